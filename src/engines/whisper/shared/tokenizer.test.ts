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
    // A piece never crosses from letters to a figure or a mark.
    ['a1b', ids('a', '1', 'b')],
    ["x 'b", ids('x', " '", 'b')],
    // The last of several spaces belongs to the word.
    ['x   a', ids('x', ' ', ' ', ' a')],
    ['ü', bytes('ü')],
    ['\ud800', bytes('\ufffd')],
  ])('%j', (text, expected) => {
    expect(tokenizer.encode(text)).toEqual(expected);
  });

  test('merges written as one string are the same', () => {
    const file = smallTokenizerFile(MERGES);
    const joined = {
      ...file,
      model: { ...file.model, merges: file.model.merges.map((pair) => pair.join(' ')) },
    };
    expect(new WhisperTokenizer(joined).encode(' abc bca')).toEqual(tokenizer.encode(' abc bca'));
  });

  test('a text cannot name a special token', () => {
    const tokens = tokenizer.encode('<|endoftext|>');
    expect(Math.max(...tokens)).toBeLessThan(tokenizer.special.endOfText);
    expect(tokenizer.decode(tokens)).toBe('<|endoftext|>');
  });

  test('decode undoes encode for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.toWellFormed());
      }),
    );
  });
});

describe('decode', () => {
  const tokenizer = smallTokenizer(MERGES);

  test('special tokens and times have no text; a broken character is marked', () => {
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

  test('languages go by ISO codes, both ways', () => {
    expect([...tokenizer.languages.keys()]).toEqual(['en', 'zh', 'jv']);
    for (const [code, token] of tokenizer.languages) expect(tokenizer.languageOf(token)).toBe(code);
    expect(tokenizer.languageOf(tokenizer.special.translate)).toBeUndefined();
  });

  test('times go in steps of 20 ms', () => {
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

  test('suppressed: marks that are one token, the first of a note, what only a prompt holds', () => {
    const suppressed = new Set(smallTokenizer([[' ', '(']]).suppressed());
    for (const mark of '"#()*+/:;<=>@[\\]^_`{|}~') expect(suppressed, mark).toContain(mark.charCodeAt(0));
    expect(suppressed).toContain(bytes('♪')[0]);
    expect(suppressed).toContain(256);
    // Kept: what ordinary sentences hold. The space and the quotes' bytes are first tokens here of " -" and "♪".
    for (const mark of '.,?!aZ09') expect(suppressed, mark).not.toContain(mark.charCodeAt(0));
    const { special, languages } = tokenizer;
    expect(tokenizer.suppressed()).toEqual(
      expect.arrayContaining([special.translate, special.transcribe, special.noSpeech]),
    );
    expect(tokenizer.suppressed()).not.toContain(special.endOfText);
    expect(tokenizer.suppressed()).not.toContain(languages.get('en'));
    expect(tokenizer.suppressedAtBegin()).toEqual([32, special.endOfText]);
  });
});

describe('a file that is not one', () => {
  test.each([
    [{}, 'lacks model.vocab'],
    [{ ...smallTokenizerFile([]), added_tokens: [] }, 'no token <|notimestamps|>'],
    [{ ...smallTokenizerFile([]), model: { vocab: { '\u5b57': 0 }, merges: [] } }, 'stands for no byte'],
  ])('%#', (file, message) => {
    expect(() => new WhisperTokenizer(file)).toThrow(message);
  });
});

test('codes of languages, and which have spaces', () => {
  expect(isoLanguage('JW')).toBe('jv');
  expect(isoLanguage('en')).toBe('en');
  expect([undefined, 'en', 'ko', 'zh', 'th'].map(hasSpaces)).toEqual([true, true, true, false, false]);
});
