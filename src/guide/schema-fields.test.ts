import { expect, it } from 'vitest';
import { fieldRows } from './schema-fields.ts';

const text = { type: 'string' };

it('lists the fields of nested objects with their paths', () => {
  const rows = fieldRows({
    type: 'object',
    required: ['session'],
    properties: {
      session: { type: 'object', properties: { id: text } },
      parts: { type: 'array', maxItems: 2, items: { type: 'object', properties: { text } } },
    },
  });
  expect(rows.map(({ name, isRequired, about }) => [name, isRequired, about])).toEqual([
    ['session', true, ''],
    ['session.id', false, ''],
    ['parts', false, 'At most 2 entries.'],
    ['parts[].text', false, ''],
  ]);
});

it('distinguishes variants by their constants', () => {
  const variant = (type: string, field: string) => ({
    type: 'object',
    properties: { type: { type: 'string', const: type }, [field]: text },
  });
  const item = { anyOf: [variant('message', 'role'), variant('call', 'name'), { type: 'null' }] };
  const rows = fieldRows({ type: 'object', properties: { item } });
  expect(rows.map(({ name, type }) => [name, type.map(({ text: word }) => word)])).toEqual([
    ['item', ['object', 'null']],
    ['item(message).type', ['"message"']],
    ['item(message).role', ['string']],
    ['item(call).type', ['"call"']],
    ['item(call).name', ['string']],
  ]);
});

it.each([
  [{ $ref: '#/components/schemas/Item' }, [{ text: 'Item', shape: 'Item' }], ''],
  [{ type: 'array', items: { $ref: '#/components/schemas/Item' } }, [{ text: 'Item[]', shape: 'Item' }], ''],
  [{ enum: ['a', 1] }, [{ text: '"a"' }, { text: '1' }], ''],
  [{ type: 'number', minimum: 0, maximum: 1, default: 0.5 }, [{ text: 'number' }], '0 to 1. Default: `0.5`.'],
  [{ type: 'integer', minimum: 1, description: 'How many.' }, [{ text: 'integer' }], 'How many. At least 1.'],
  [{ type: 'string', minLength: 1, maxLength: 9 }, [{ text: 'string' }], '1 to 9 characters.'],
  [
    { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
    [{ text: 'string' }, { text: 'null' }],
    'At most 3 characters.',
  ],
  [{ not: {} }, [{ text: 'nothing' }], ''],
  [{}, [{ text: 'any' }], ''],
])('%j has the type %j', (schema, type, about) => {
  expect(fieldRows({ type: 'object', properties: { field: schema } })[0]).toEqual({
    name: 'field',
    isRequired: false,
    type,
    about,
  });
});
