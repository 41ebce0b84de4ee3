import { expect, it } from 'vitest';
import { cleanKeywords, MAX_KEYWORD_CHARACTERS, MAX_KEYWORDS } from './keywords.ts';

it('keywords are trimmed, on one line and not blank', () => {
  expect(cleanKeywords([' Ahrensburg ', '', 'Hamburger\n  Verkehrsverbund', '\ud800'])).toEqual([
    'Ahrensburg',
    'Hamburger Verkehrsverbund',
    '\ufffd',
  ]);
});

it('have limits of their number and length', () => {
  expect(cleanKeywords(Array(MAX_KEYWORDS).fill('abcde'))).toHaveLength(MAX_KEYWORDS);
  expect(cleanKeywords(Array(MAX_KEYWORDS + 1).fill('a'))).toBeUndefined();
  expect(cleanKeywords(['👋'.repeat(MAX_KEYWORD_CHARACTERS)])).toHaveLength(1);
  expect(cleanKeywords(['a'.repeat(MAX_KEYWORD_CHARACTERS), 'a'])).toBeUndefined();
});
