import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { nullableFields } from './nullable-fields.ts';
import { toPlainSchema } from './route-docs.ts';

const fieldsOf = (schema: object) => nullableFields(toPlainSchema(schema)).properties;

test('makes optional fields nullable, but not required fields', () => {
  const schema = Type.Object({
    model: Type.String(),
    dimensions: Type.Optional(Type.Integer({ minimum: 1, description: 'Length.', default: 2 })),
  });
  expect(fieldsOf(schema)).toEqual({
    model: { type: 'string' },
    dimensions: {
      anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }],
      description: 'Length.',
      default: 2,
    },
  });
});

test('adds a null branch to a union', () => {
  const stop = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { examples: ['.'] }));
  expect(fieldsOf(Type.Object({ stop }))).toEqual({
    stop: {
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
      examples: ['.'],
    },
  });
});

test('does not change fields that already allow null', () => {
  const schema = Type.Object({
    name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    removed: Type.Optional(Type.Null({ deprecated: true })),
    user: Type.Optional(Type.Unknown({ description: 'Ignored.' })),
  });
  expect(fieldsOf(schema)).toEqual(toPlainSchema(schema).properties);
});

test('does not change nested objects', () => {
  const text = Type.Object({ format: Type.Optional(Type.String()) });
  expect(fieldsOf(Type.Object({ text }))).toEqual({ text: toPlainSchema(text) });
});
