import { Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { expect, test } from 'vitest';
import { oneOf } from './type-errors.ts';
import { firstIssue } from './value-errors.ts';

const Message = Type.Object({
  type: Type.Optional(Type.Literal('message')),
  role: oneOf(['user', 'assistant']),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ text: Type.String() }))]),
});
const Call = Type.Object({ type: Type.Literal('call'), name: Type.String() });
const Reference = Type.Object({ id: Type.String() }, { additionalProperties: false });
const checker = TypeCompiler.Compile(
  Type.Object({
    input: Type.Union([Type.String(), Type.Array(Type.Union([Message, Call, Reference]))]),
    style: Type.Optional(Type.Union([oneOf(['plain', 'rich']), Type.Null()])),
  }),
);

test.each([
  [{ input: [{ type: 'bird' }] }, 'input.0.type', 'invalid_value'],
  [{ input: [{ role: 'bird', content: '' }] }, 'input.0.role', 'invalid_value'],
  [{ input: [{ role: 'user', content: [{}] }] }, 'input.0.content.0.text', 'missing_required_parameter'],
  [{ input: [{ type: 'call' }] }, 'input.0.name', 'missing_required_parameter'],
  [{ input: [{ id: 5 }] }, 'input.0.id', 'invalid_type'],
  [{ input: 5 }, 'input', 'invalid_type'],
  [{ input: '', style: 'loud' }, 'style', 'invalid_value'],
  [{ input: '', style: 5 }, 'style', 'invalid_type'],
])('%j', (value, field, code) => {
  expect(firstIssue(checker, value)).toMatchObject({ field, code });
});

test('returns undefined for a valid value', () => {
  expect(firstIssue(checker, { input: [{ role: 'user', content: 'x' }, { id: 'x' }], style: null })).toBe(
    undefined,
  );
});

test.each([
  [Type.Array(Type.String(), { minItems: 1 }), [], 'must be a list that is not empty, each a string'],
  [Type.Array(Type.String(), { minItems: 2 }), [], 'must be a list of at least 2 entries, each a string'],
  [Type.Array(Type.Null(), { minItems: 1, maxItems: 2 }), [], 'must be a list of 1 to 2 entries, each null'],
  [Type.Array(Type.Null(), { maxItems: 1 }), [null, null], 'must be a list of at most 1 entries, each null'],
  [Type.Array(Type.Null()), 5, 'must be a list, each null'],
])('states the allowed number of list entries (%#)', (list, value, problem) => {
  expect(firstIssue(TypeCompiler.Compile(Type.Object({ list })), { list: value })).toMatchObject({ problem });
});

test('states only that a field is required if its schema has no rules', () => {
  const byHand = TypeCompiler.Compile(Type.Object({ input: Type.Unknown() }));
  expect(firstIssue(byHand, {})).toMatchObject({ field: 'input', problem: 'is required' });
});
