import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PickleReader, type PickleWorld } from './pickle-reader.ts';

const WORLD: PickleWorld = {
  calls: { 'collections OrderedDict': () => new Map(), 'm pair': (args) => ({ pair: args }) },
  names: ['m Kind'],
  outside: (id) => ({ outside: id }),
};

/** A program in the letters of the format; numbers stand for bytes. */
function bytesOf(...parts: (string | number)[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'number' ? [part] : [...part].map((letter) => letter.charCodeAt(0)),
    ),
  );
}
const read = (...parts: (string | number)[]) => new PickleReader(bytesOf(...parts)).pickle(WORLD);
const text = (word: string): (string | number)[] => ['X', word.length, 0, 0, 0, word];

describe('plain data', () => {
  test('numbers, text, nothing and truth', () => {
    expect(read(0x80, 2, 'K', 7, '.')).toBe(7);
    expect(read('M', 0xe9, 3, '.')).toBe(1001);
    expect(read('J', 0xff, 0xff, 0xff, 0xff, '.')).toBe(-1);
    expect(read(0x8a, 3, 1, 0, 1, '.')).toBe(65_537n);
    expect(read(0x8a, 1, 0xff, '.')).toBe(-1n);
    expect(read('G', 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, '.')).toBe(1.5);
    expect(read(...text('abc'), '.')).toBe('abc');
    expect(read('(N', 0x88, 0x89, 't.')).toEqual([null, true, false]);
  });

  test('lists, tuples and dictionaries, filled one by one or together', () => {
    expect(read(']K', 1, 'a(K', 2, 'K', 3, 'e.')).toEqual([1, 2, 3]);
    expect(read('K', 1, 0x85, 'K', 2, 0x86, '.')).toEqual([[1], 2]);
    expect(read('}K', 1, 'K', 2, 's(K', 3, 'K', 4, 'u.')).toEqual(
      new Map([
        [1, 2],
        [3, 4],
      ]),
    );
  });

  test('what was noted is the same thing', () => {
    const [first, second] = read('(]q', 0, 'h', 0, 't.') as unknown[];
    expect(second).toBe(first);
  });

  test('pickles one after the other', () => {
    const reader = new PickleReader(bytesOf('K', 1, '.K', 2, '.'));
    expect([reader.pickle(WORLD), reader.pickle(WORLD)]).toEqual([1, 2]);
  });
});

describe('globals', () => {
  test('that are offered are called and told apart; state is left out', () => {
    expect(read('cm\npair\n(K', 1, 'K', 2, 'tR.')).toEqual({ pair: [1, 2] });
    expect(read('cm\nKind\n.')).toBe('m Kind');
    expect(read('ccollections\nOrderedDict\n)R}b.')).toEqual(new Map());
    expect(read('K', 5, 'Q.')).toEqual({ outside: 5 });
  });

  test.each(['os\nsystem', 'builtins\neval', 'm\nconstructor', '__proto__\ntoString', 'm\n__proto__'])(
    'that are not are refused: %j',
    (name) => {
      expect(() => read(`c${name}\n(`, ...text('echo'), 'tR.')).toThrow('is not allowed');
    },
  );

  test('a name that may be told apart may not be called, nor may text, nor with what is no list', () => {
    expect(() => read('cm\nKind\n)R.')).toThrow('cannot be called');
    expect(() => read(...text('toString'), ')R.')).toThrow('cannot be called');
    expect(() => read('cm\npair\nNR.')).toThrow('cannot be called');
  });
});

describe('a broken pickle', () => {
  test.each([
    ['unknown instructions', [0x93, '.'], /instruction 147/],
    ['a stack that is empty', ['.'], /more values than it has/],
    ['no mark', ['t.'], /more values than it has/],
    ['an item for what is no list', ['K', 1, 'K', 2, 'a.'], /where none can be put/],
    ['an entry for what is no dictionary', ['K', 1, 'K', 2, 'K', 3, 's.'], /where none can be put/],
    ['an end that is missing', ['K'], /too short/],
    ['text longer than the file', ['X', 255, 255, 255, 255, 'a'], /too short/],
    ['a name without an end', ['cos'], /too short/],
  ] as const)('with %s', (_, parts, message) => {
    expect(() => read(...parts)).toThrow(message);
  });

  test('of very many instructions', () => {
    expect(() => new PickleReader(new Uint8Array(1_000_001).fill('N'.charCodeAt(0))).pickle(WORLD)).toThrow(
      'more than 1000000 instructions',
    );
  });

  test('of any bytes ends with a value or an error of this reader', () => {
    const letters = [...'N()]}taesuqhcRQb.KMXJG'].map((letter) => letter.charCodeAt(0));
    const byte = fc.oneof(fc.constantFrom(...letters), fc.nat(255));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 60 }), (bytes) => {
        try {
          new PickleReader(Uint8Array.from(bytes)).pickle(WORLD);
        } catch (error) {
          expect(String(error)).toMatch(/^Error: The (file|pickle) /);
        }
      }),
    );
  });
});
