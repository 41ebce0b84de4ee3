import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { KEY_ROLES } from '../../contract/accounts/api-key.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { json } from '../openapi/route-docs.ts';
import { readQuery } from '../request/query.ts';
import { keyHolderOf } from '../security/caller.ts';

const Organization = Type.Object(
  {
    object: Type.Literal('organization'),
    id: Type.String({ examples: ['default'] }),
    role: oneOf(KEY_ROLES, { description: "An admin's key makes and ends keys." }),
    operator: Type.Boolean({ description: 'Whether the key may switch plugins of the whole service.' }),
    key_id: Type.Optional(
      Type.String({
        description: 'Of the key, when it is a stored one.',
        examples: ['key_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
      }),
    ),
  },
  { title: 'Organization' },
);

/** GET /v1/organization: whose key this is, and what it may do. */
export function organizationRoutes() {
  return new Elysia({ name: 'organization', tags: ['organization'] }).get(
    '/v1/organization',
    ({ request }) => {
      readQuery(request, []);
      const { organization, role, operator, storedKey } = keyHolderOf(request);
      return { object: 'organization', id: organization, role, operator, key_id: storedKey };
    },
    {
      detail: {
        summary: 'Whose key this is, and what it may do',
        description: 'An organization is its name.',
        responses: { 200: json('The organization', Organization) },
      },
    },
  );
}
