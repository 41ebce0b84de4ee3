import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smallTokenizer } from '../../../../test/generators/small-tokenizer.ts';
import { WordStream } from './word-stream.ts';

const tokenizer = smallTokenizer();
const END = tokenizer.special.endOfText;
const TIME = tokenizer.special.timestampBegin + 12;

/** Pushes pieces of text as byte tokens and returns the output after each piece, then the rest. */
function deltas(language: string | undefined, ...pieces: (string | number)[]): string[] {
  const stream = new WordStream(tokenizer, language);
  const given = pieces.map((piece) =>
    (typeof piece === 'number' ? [piece] : tokenizer.encode(piece))
      .map((token) => stream.push(token))
      .join(''),
  );
  return [...given, stream.flush()];
}

describe('with spaces', () => {
  test('a word is returned when the next one starts, with its punctuation and the space before it', () => {
    expect(deltas('en', ' And', ' so', ',', ' my', ' fel', 'low', ' Americans', '.')).toEqual([
      '',
      'And',
      '',
      ' so,',
      ' my',
      '',
      ' fellow',
      '',
      ' Americans.',
    ]);
  });

  test('spaces at either end are trimmed, inner spaces are kept', () => {
    expect(deltas('en', '  a', ' \n b', '  ')).toEqual(['', 'a', ' \n b', '']);
    expect(deltas('en', '   ')).toEqual(['', '']);
    expect(deltas('en')).toEqual(['']);
  });

  test('a timestamp completes the word before it', () => {
    expect(deltas('en', TIME, ' a.', TIME, TIME, ' b', TIME, END)).toEqual([
      '',
      '',
      'a.',
      '',
      '',
      ' b',
      '',
      '',
    ]);
  });

  test('a character is returned complete, or as U+FFFD when it is incomplete', () => {
    const [first = 0, second = 0, third = 0] = new TextEncoder().encode('€');
    expect(deltas('en', 'x', first, second, third, ' ')).toEqual(['', '', '', '', 'x€', '']);
    expect(deltas('en', 'x', first, second, TIME, third, 'y')).toEqual([
      '',
      '',
      '',
      'x\ufffd',
      '',
      '',
      '\ufffdy',
    ]);
  });
});

describe('without spaces', () => {
  test('a character is returned when the next one starts', () => {
    expect(deltas('zh', '你', '好', '，', '世', '界')).toEqual(['', '你', '好', '，', '世', '界']);
  });

  test('combining marks stay with their character, Latin words and numbers are not split', () => {
    expect(deltas('th', 'ก', '\u0e49', 'น', '\u0e49')).toEqual(['', '', 'ก\u0e49', '', 'น\u0e49']);
    expect(deltas('ja', 'の', 'iPho', 'ne', '17', 'は')).toEqual(['', 'の', '', '', 'iPhone17', 'は']);
    expect(deltas('ja', '\u0301', ' の ', 'は')).toEqual(['', '\u0301 の', '', ' は']);
  });
});

describe('every text', () => {
  const token = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => tokenizer.encode(text)),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(' ', ' the', 'ก้', '\u3000', '\n ').map((text) => tokenizer.encode(text)),
    },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 255 }).map((byte) => [byte]) },
    { weight: 1, arbitrary: fc.constantFrom(TIME, END, tokenizer.special.noSpeech).map((id) => [id]) },
  );

  test.each(['en', 'th'])('is returned completely, trimmed and in whole words (%s)', (language) => {
    fc.assert(
      fc.property(
        fc.array(token).map((chunks) => chunks.flat()),
        (tokens) => {
          const stream = new WordStream(tokenizer, language);
          let sofar = '';
          for (const one of tokens) {
            const delta = stream.push(one);
            expect(delta).toBe(delta.trimEnd());
            sofar += delta;
          }
          // Bytes on different sides of a special token do not form a character.
          const runs: number[][] = [[]];
          for (const one of tokens) one >= END ? runs.push([]) : runs.at(-1)?.push(one);
          expect(sofar + stream.flush()).toBe(
            runs
              .map((run) => tokenizer.decode(run))
              .join('')
              .trim(),
          );
        },
      ),
    );
  });

  test('a flushed stream is reset', () => {
    const stream = new WordStream(tokenizer, 'en');
    const run = () => [...tokenizer.encode(' a b')].map((one) => stream.push(one)).join('') + stream.flush();
    expect([run(), run()]).toEqual(['a b', 'a b']);
  });
});
