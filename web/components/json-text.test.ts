import { expect, test } from 'vitest';
import { formatJson, isJsonObject, readJson } from './json-text.ts';

test('readJson returns the value or an error message', () => {
  expect(readJson('{"a":[1]}')).toEqual({ value: { a: [1] } });
  expect(readJson('{"a":')).toEqual({ error: expect.stringMatching(/^Invalid JSON: .+\.$/) });
});

test('laidOut formats JSON and leaves other texts unchanged', () => {
  expect(formatJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(formatJson('{"a":')).toBe('{"a":');
});

test('isJsonObject rejects lists and null', () => {
  expect([{}, [], null, 'a'].map(isJsonObject)).toEqual([true, false, false, false]);
});
