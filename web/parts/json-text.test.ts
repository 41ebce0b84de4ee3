import { expect, test } from 'vitest';
import { isJsonObject, laidOut, readJson } from './json-text.ts';

test('JSON is read, and what is none is told why', () => {
  expect(readJson('{"a":[1]}')).toEqual({ value: { a: [1] } });
  expect(readJson('{"a":')).toEqual({ fault: expect.stringMatching(/^This is not JSON: .+\.$/) });
});

test('JSON is laid out, other texts stay', () => {
  expect(laidOut('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(laidOut('{"a":')).toBe('{"a":');
});

test('lists and null are no objects', () => {
  expect([{}, [], null, 'a'].map(isJsonObject)).toEqual([true, false, false, false]);
});
