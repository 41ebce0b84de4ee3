import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { ClauseSplitter } from './clause-splitter.ts';

let splitter = new ClauseSplitter();
afterEach(() => {
  splitter.close();
  splitter = new ClauseSplitter();
});

/** Clauses of a text that arrives in pieces of one word. */
function clausesOf(text: string): string[] {
  const pieces = text.match(/\s*\S+\s*/g) ?? [];
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe('the first clause', () => {
  test('is the first sentence if it is short', () => {
    expect(clausesOf('We do. The kitchen closes at ten.')).toEqual(['We do. ', 'The kitchen closes at ten.']);
  });

  test('ends at its first pause', () => {
    const text = '"Sure," I can help you with that, and with the order as well. Which one?';
    expect(clausesOf(text)[0]).toBe('"Sure," ');
  });

  test('ends at a comma before the next word arrives, except inside a number', () => {
    expect(splitter.push('It costs 1,')).toEqual([]);
    expect(splitter.push('250 euros,')).toEqual(['It costs 1,250 euros,']);
    expect(splitter.push(' you know.')).toEqual([]);
    expect(splitter.end()).toEqual([' you know.']);
  });

  test('ends after six words without a pause', () => {
    const [first = ''] = clausesOf(
      'The next train to the airport leaves from platform three at a quarter past nine.',
    );
    expect(first).toBe('The next train to the airport ');
  });

  test('is not split inside a number', () => {
    expect(clausesOf('It costs 1,250 euros. Deal?')[0]).toBe('It costs 1,250 euros. ');
  });
});

describe('later clauses', () => {
  test('are sentences', () => {
    const text = 'Hello there. We have a table at seven, or at nine, or much later. Which one do you want?';
    expect(clausesOf(text)).toEqual([
      'Hello there. ',
      'We have a table at seven, or at nine, or much later. ',
      'Which one do you want?',
    ]);
  });

  test('are taken early at the last pause, or at the last word', () => {
    splitter.push('Hello there. ');
    expect(splitter.takeEarly()).toBe('Hello there. ');
    splitter.push('We have a table, at se');
    expect(splitter.takeEarly()).toBe('We have a table, ');
    expect(splitter.takeEarly()).toBeUndefined();
    splitter.push('ven in the evening to');
    expect(splitter.takeEarly()).toBe('at seven in the evening ');
    expect(splitter.push('morrow. Bye')).toEqual(['tomorrow. ']);
    expect(splitter.end()).toEqual(['Bye']);
  });
});

test('clauses are the text, wherever they are taken early', () => {
  const word = fc.constantFrom(
    'Hello',
    'Mr. ',
    'yes, ',
    '3.5',
    ' ',
    '\n\n',
    'No! ',
    'a b c d e f g',
    '。',
    '— ',
    '"Hi." ',
    '…',
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(word, fc.boolean()), { maxLength: 40 }), (pieces) => {
      const clauses = pieces.flatMap(([piece, early]) => {
        const complete = splitter.push(piece);
        const taken = early ? splitter.takeEarly() : undefined;
        return taken === undefined ? complete : [...complete, taken];
      });
      expect([...clauses, ...splitter.end()].join('')).toBe(pieces.map(([piece]) => piece).join(''));
    }),
  );
});
