import { expect, test } from 'vitest';
import { namedSchemas } from './named-schemas.ts';

const text = { type: 'string' };

test('a schema with a title is named, wherever it stands, and what is in it too', () => {
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

test('of two that differ and have one title, the second stays where it is', () => {
  const [one, other] = [
    { title: 'Thing', type: 'string' },
    { title: 'Thing', type: 'number' },
  ];
  const { value, schemas } = namedSchemas([one, other, one]);
  const reference = { $ref: '#/components/schemas/Thing' };
  expect(value).toEqual([reference, other, reference]);
  expect(schemas).toEqual({ Thing: one });
});

test('the order of fields is no difference, nor is what a schema says of itself', () => {
  const one = { title: 'Thing', type: 'string', description: 'Some thing.', maxLength: 3 };
  const { value, schemas } = namedSchemas([one, { maxLength: 3, type: 'string', title: 'Thing' }]);
  const reference = { $ref: '#/components/schemas/Thing' };
  expect(value).toEqual([reference, reference]);
  expect(schemas).toEqual({ Thing: one });
});

test('a field that is called title is a field, and an example with one an example', () => {
  const schema = { type: 'object', properties: { title: text } };
  const part = { schema, example: { title: 'A page' }, examples: [{ title: 'A page' }] };
  expect(namedSchemas(part)).toEqual({ value: part, schemas: {} });
});

test('objects of any fields say so in the way that generators know', () => {
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
