import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smallTokenizer, smallTokenizerFile } from '../../../../test/generators/small-tokenizer.ts';
import { hasSpaces, isoLanguage } from './languages.ts';
import { WhisperTokenizer } from './tokenizer.ts';

const MERGES = [
  ['a', 'b'],
  ['b', 'c'],
  ['ab', 'c'],
  [' ', 'a'],
  [' ', "'"],
] as const;
const bytes = (text: string) => [...new TextEncoder().encode(text)];

describe('encode', () => {
  const tokenizer = smallTokenizer(MERGES);
  const ids = (...texts: string[]) => {
    const known = new Map(MERGES.map(([left, right], index) => [left + right, 256 + index]));
    return texts.flatMap((text) => known.get(text) ?? bytes(text));
  };

  test.each([
    ['', []],
    ['abc', ids('abc')],
    ['bcab', ids('bc', 'ab')],
    ['abab', ids('ab', 'ab')],
    // " a" comes after "a b" in the list, so "ab" is merged first.
    [' ab a', ids(' ', 'ab', ' a')],
    // A piece does not combine letters with digits or punctuation.
    ['a1b', ids('a', '1', 'b')],
    ["x 'b", ids('x', " '", 'b')],
    // The last of several spaces belongs to the word.
    ['x   a', ids('x', ' ', ' ', ' a')],
    ['ü', bytes('ü')],
    ['\ud800', bytes('\ufffd')],
  ])('%j', (text, expected) => {
    expect(tokenizer.encode(text)).toEqual(expected);
  });

  test('merges as strings and as pairs are equivalent', () => {
    const file = smallTokenizerFile(MERGES);
    const joined = {
      ...file,
      model: { ...file.model, merges: file.model.merges.map((pair) => pair.join(' ')) },
    };
    expect(new WhisperTokenizer(joined).encode(' abc bca')).toEqual(tokenizer.encode(' abc bca'));
  });

  test('names of special tokens are encoded as text', () => {
    const tokens = tokenizer.encode('<|endoftext|>');
    expect(Math.max(...tokens)).toBeLessThan(tokenizer.special.endOfText);
    expect(tokenizer.decode(tokens)).toBe('<|endoftext|>');
  });

  test('decode reverts encode for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.toWellFormed());
      }),
    );
  });
});

describe('decode', () => {
  const tokenizer = smallTokenizer(MERGES);

  test('special tokens and timestamps have no text; an invalid character is U+FFFD', () => {
    const { special } = tokenizer;
    expect(tokenizer.decode([special.startOfTranscript, 97, special.timestampBegin + 7, 98])).toBe('ab');
    expect(tokenizer.decode([97, 0xe4, 0xbd])).toBe('a\ufffd');
    expect(tokenizer.decode(bytes('\ufeffa'))).toBe('\ufeffa');
    expect([...tokenizer.bytesOf(special.endOfText)]).toEqual([]);
    expect([...tokenizer.bytesOf(258)]).toEqual(bytes('abc'));
  });
});

describe('special tokens', () => {
  const tokenizer = smallTokenizer();

  test('languages map to ISO codes and back', () => {
    expect([...tokenizer.languages.keys()]).toEqual(['en', 'zh', 'jv']);
    for (const [code, token] of tokenizer.languages) expect(tokenizer.languageOf(token)).toBe(code);
    expect(tokenizer.languageOf(tokenizer.special.translate)).toBeUndefined();
  });

  test('timestamps have steps of 20 ms', () => {
    const { timestampBegin, noTimestamps } = tokenizer.special;
    expect(timestampBegin).toBe(noTimestamps + 1);
    expect(tokenizer.timeS(timestampBegin)).toBe(0);
    expect(tokenizer.timeS(timestampBegin + 1500)).toBeCloseTo(30);
    expect(tokenizer.timeS(noTimestamps)).toBeUndefined();
  });

  test('an English-only model has no languages', () => {
    const file = smallTokenizerFile([]);
    const shift = 50_256 - (file.added_tokens[0]?.id ?? 0);
    const added = file.added_tokens.map(({ id, content }) => ({
      id: id + shift,
      content: content === '<|nospeech|>' ? '<|nocaptions|>' : content,
    }));
    const english = new WhisperTokenizer({ ...file, added_tokens: added });
    expect(english.multilingual).toBe(false);
    expect(english.languages.size).toBe(0);
    expect(english.special.noSpeech).toBe(english.special.noTimestamps - 1);
    expect(tokenizer.multilingual).toBe(true);
  });

  test('suppresses symbols of one token, the first token of music symbols, and tokens of prompts', () => {
    const suppressed = new Set(smallTokenizer([[' ', '(']]).suppressed());
    for (const mark of '"#()*+/:;<=>@[\\]^_`{|}~') expect(suppressed, mark).toContain(mark.charCodeAt(0));
    expect(suppressed).toContain(bytes('♪')[0]);
    expect(suppressed).toContain(256);
    // Tokens of ordinary sentences are allowed. In this vocabulary, the space and the bytes of quotes are the first tokens
    // of " -" and "♪".
    for (const mark of '.,?!aZ09') expect(suppressed, mark).not.toContain(mark.charCodeAt(0));
    const { special, languages } = tokenizer;
    expect(tokenizer.suppressed()).toEqual(
      expect.arrayContaining([special.translate, special.transcribe, special.noSpeech]),
    );
    expect(tokenizer.suppressed()).not.toContain(special.endOfText);
    expect(tokenizer.suppressed()).not.toContain(languages.get('en'));
    expect(tokenizer.suppressedAtStart()).toEqual([32, special.endOfText]);
  });
});

describe('invalid files', () => {
  test.each([
    [{}, 'lacks model.vocab'],
    [{ ...smallTokenizerFile([]), added_tokens: [] }, 'no token <|notimestamps|>'],
    [
      { ...smallTokenizerFile([]), model: { vocab: { '\u5b57': 0 }, merges: [] } },
      'does not represent a byte',
    ],
  ])('%#', (file, message) => {
    expect(() => new WhisperTokenizer(file)).toThrow(message);
  });
});

test('converts language codes and distinguishes languages with spaces', () => {
  expect(isoLanguage('JW')).toBe('jv');
  expect(isoLanguage('en')).toBe('en');
  expect([undefined, 'en', 'ko', 'zh', 'th'].map(hasSpaces)).toEqual([true, true, true, false, false]);
});
