import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { sampleOf } from './schema-sample.ts';

const Text = Type.String();

describe('sampleOf', () => {
  it.each([
    ['its example', Type.Integer({ examples: [7], default: 5 }), 7],
    ['its default', Type.Integer({ default: 5, minimum: 1 }), 5],
    ['its constant', Type.Literal('list'), 'list'],
    ['the first enum value', oneOf(['asc', 'desc']), 'asc'],
    ['null for a nullable schema', Type.Union([Type.Object({ a: Text }), Type.Null()]), null],
    ['the sample of the first branch of a union', Type.Union([Type.Array(Text), Text]), ['']],
    ['the minimum of a number', Type.Number({ minimum: 3 }), 3],
    ['only the required fields of an object', Type.Object({ a: Text, b: Type.Optional(Text) }), { a: '' }],
    ['one entry of an array', Type.Array(Type.Object({ is: Type.Boolean() })), [{ is: false }]],
  ])('is %s', (_, schema, wanted) => {
    const sample = sampleOf(JSON.parse(JSON.stringify(schema)));
    expect(sample).toEqual(wanted);
    expect(Value.Check(schema, sample)).toBe(true);
  });
});
