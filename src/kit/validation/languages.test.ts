import { expect, it } from 'vitest';
import { languageCode, languageName } from './languages.ts';

it.each([
  ['en', 'english'],
  ['de', 'german'],
  ['zh', 'chinese'],
  ['he', 'hebrew'],
  ['no', 'norwegian'],
  ['haw', 'hawaiian'],
  ['yue', 'cantonese'],
])('%s is %s', (code, name) => {
  expect(languageName(code)).toBe(name);
});

it.each(['xx', 'english', '', 'EN', 'e', 'en-US', '__proto__'])('%j is not a language code', (code) => {
  expect(languageName(code)).toBeUndefined();
});

it.each([
  ['english', 'en'],
  ['German', 'de'],
  ['de', 'de'],
  ['Hebrew', 'he'],
  ['myanmar', 'my'],
  ['burmese', 'my'],
  ['nynorsk', 'nn'],
  ['haitian creole', 'ht'],
])('%s is the language %s', (name, code) => {
  expect(languageCode(name)).toBe(code);
});

it.each(['klingon', '', 'constructor', 'undefined'])('%j is not a language', (name) => {
  expect(languageCode(name)).toBeUndefined();
});
