import { expect, test } from 'vitest';
import { namedSchemas } from './named-schemas.ts';

const text = { type: 'string' };

test('moves schemas with a title to components at every level, including nested ones', () => {
  const error = { title: 'Error', type: 'object', properties: { message: text } };
  const page = { title: 'New voice page', type: 'array', items: { title: 'Voice', ...text } };
  const { value, schemas } = namedSchemas({
    200: { schema: page },
    400: { schema: error },
    404: { schema: error },
  });
  expect(value).toEqual({
    200: { schema: { $ref: '#/components/schemas/NewVoicePage' } },
    400: { schema: { $ref: '#/components/schemas/Error' } },
    404: { schema: { $ref: '#/components/schemas/Error' } },
  });
  expect(schemas).toEqual({
    NewVoicePage: { ...page, items: { $ref: '#/components/schemas/Voice' } },
    Voice: { title: 'Voice', type: 'string' },
    Error: error,
  });
});

test('keeps the second of two different schemas with the same title inline', () => {
  const [one, other] = [
    { title: 'Thing', type: 'string' },
    { title: 'Thing', type: 'number' },
  ];
  const { value, schemas } = namedSchemas([one, other, one]);
  const reference = { $ref: '#/components/schemas/Thing' };
  expect(value).toEqual([reference, other, reference]);
  expect(schemas).toEqual({ Thing: one });
});

test('does not treat a field named title, or an example with a title, as a schema title', () => {
  const schema = { type: 'object', properties: { title: text } };
  const part = { schema, example: { title: 'A page' }, examples: [{ title: 'A page' }] };
  expect(namedSchemas(part)).toEqual({ value: part, schemas: {} });
});

test('declares free-form objects with additionalProperties', () => {
  const open = { type: 'object', additionalProperties: true };
  const empty = { type: 'object', properties: {} };
  expect(namedSchemas([empty, { ...empty, additionalProperties: false }]).value).toEqual([
    open,
    { ...empty, additionalProperties: false },
  ]);
  const record = (pattern: string) => ({ type: 'object', patternProperties: { [pattern]: text } });
  expect(namedSchemas([record('^(.*)$'), record('^x-')]).value).toEqual([
    { type: 'object', additionalProperties: text },
    record('^x-'),
  ]);
});
