import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { sampleOf } from './schema-sample.ts';

const Text = Type.String();

describe('a sample', () => {
  it.each([
    ['its example', Type.Integer({ examples: [7], default: 5 }), 7],
    ['its default', Type.Integer({ default: 5, minimum: 1 }), 5],
    ['its fixed value', Type.Literal('list'), 'list'],
    ['the first of its values', oneOf(['asc', 'desc']), 'asc'],
    ['null where it may be', Type.Union([Type.Object({ a: Text }), Type.Null()]), null],
    ['what the first branch is', Type.Union([Type.Array(Text), Text]), ['']],
    ['the least number', Type.Number({ minimum: 3 }), 3],
    ['fields that must be there', Type.Object({ a: Text, b: Type.Optional(Text) }), { a: '' }],
    ['one entry', Type.Array(Type.Object({ is: Type.Boolean() })), [{ is: false }]],
  ])('is %s', (_, schema, wanted) => {
    const sample = sampleOf(JSON.parse(JSON.stringify(schema)));
    expect(sample).toEqual(wanted);
    expect(Value.Check(schema, sample)).toBe(true);
  });
});
