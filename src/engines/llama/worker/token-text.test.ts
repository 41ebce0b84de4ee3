import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TokenText } from './token-text.ts';

const decoder = new TextDecoder();
/** Each token is a byte. */
const bytes = (tokens: readonly number[]) => decoder.decode(Uint8Array.from(tokens));

it('returns only complete characters', () => {
  const text = new TokenText(bytes);
  const pieces = [...new TextEncoder().encode('aé€😀')].map((byte) => text.push(byte));
  expect(pieces).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀']);
  expect(text.end()).toBe('');
});

it('returns any text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (whole) => {
      const text = new TokenText(bytes);
      const pieces = [...new TextEncoder().encode(whole)].map((byte) => text.push(byte));
      expect(pieces.join('') + text.end()).toBe(whole);
    }),
  );
});

it('replaces invalid bytes, at the latest after four', () => {
  const text = new TokenText(bytes);
  expect([0xff, 0xff, 0xff, 0xff].map((byte) => text.push(byte)).join('')).toBe('\ufffd'.repeat(4));
  expect(text.push(0xe2)).toBe('');
  expect(text.end()).toBe('\ufffd');
});

it('keeps the space before a word that a tokenizer omits at the start of a text', () => {
  const words = ['▁Hello', '▁world', '!'];
  const sentencePiece = (tokens: readonly number[]) =>
    tokens
      .map((token) => words[token])
      .join('')
      .replaceAll('▁', ' ')
      .trimStart();
  const text = new TokenText(sentencePiece);
  expect([0, 1, 2].map((token) => text.push(token))).toEqual(['Hello', ' world', '!']);
});
