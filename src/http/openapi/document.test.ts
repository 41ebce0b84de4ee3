import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { testApp } from '../../../test/harness/test-app.ts';
import { route } from '../route.ts';
import { documentOf } from './document.ts';
import { jsonResponse } from './route-docs.ts';

const Cup = Type.Object({ size: Type.Integer() }, { title: 'Tea cup' });
const TAGS = [
  { name: 'cups', description: 'Cups.' },
  { name: 'pots', description: 'Pots.' },
];
const cup = { tag: 'cups', summary: 'Cup', description: 'A cup.' } as const;
const responses = { 200: jsonResponse('The cup', Cup) };
const handle = () => ({ size: 1 });

interface Document {
  readonly paths: Record<string, Record<string, object>>;
  readonly components: object;
  readonly tags: readonly { readonly name: string }[];
}

test('the document has each documented route by path and method, with its schemas by name', () => {
  const document = documentOf(
    [
      route({ ...cup, method: 'GET', path: '/v1/cups/:cup_id/size', responses, handle }),
      route({ ...cup, method: 'DELETE', path: '/v1/cups/:cup_id/size', responses, handle }),
      route({ method: 'GET', path: '/v1/hidden', isHidden: true, handle }),
    ],
    '1.0.0',
    TAGS,
  ) as Document;
  expect(Object.keys(document.paths)).toEqual(['/v1/cups/{cup_id}/size']);
  expect(document.paths['/v1/cups/{cup_id}/size']).toMatchObject({
    get: {
      operationId: 'getV1CupsByCup_idSize',
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/TeaCup' } } } },
      },
    },
    delete: { operationId: 'deleteV1CupsByCup_idSize' },
  });
  expect(document.components).toMatchObject({ schemas: { TeaCup: { type: 'object' } } });
  // Only groups of routes that exist.
  expect(document.tags.map(({ name }) => name)).toEqual(['cups']);
});

test('the document describes its own path and its page like all others', async () => {
  const { send, close } = testApp();
  const { paths } = (await (await send('/swagger/json')).json()) as Document;
  expect(paths['/']?.get).toMatchObject({ operationId: 'getIndex' });
  expect(paths['/swagger']?.get).toMatchObject({ operationId: 'getSwagger', security: [] });
  expect(paths['/swagger/json']?.get).toMatchObject({ operationId: 'getSwaggerJson', security: [] });
  expect(paths['/v1/keys']?.post).not.toHaveProperty('parameters');
  close();
});
