import { expect, test } from 'vitest';
import { languageName } from './language-name.ts';

test.each([
  ['en-GB', 'British English'],
  ['pt-BR', 'Brazilian Portuguese'],
  ['hi', 'Hindi'],
  ['no such tag', 'no such tag'],
])('the name of %s is %s', (tag, name) => {
  expect(languageName(tag)).toBe(name);
});
