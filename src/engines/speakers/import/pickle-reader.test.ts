import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PickleGlobals, PickleReader } from './pickle-reader.ts';

const GLOBALS: PickleGlobals = {
  callables: { 'collections OrderedDict': () => new Map(), 'm pair': (args) => ({ pair: args }) },
  names: ['m Kind'],
  persistentLoad: (id) => ({ persistentLoad: id }),
};

/** Bytes of a pickle from instruction letters and byte values. */
function bytesOf(...parts: (string | number)[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'number' ? [part] : [...part].map((letter) => letter.charCodeAt(0)),
    ),
  );
}
const read = (...parts: (string | number)[]) => new PickleReader(bytesOf(...parts)).pickle(GLOBALS);
const text = (word: string): (string | number)[] => ['X', word.length, 0, 0, 0, word];

describe('plain data', () => {
  test('reads numbers, strings, null and booleans', () => {
    expect(read(0x80, 2, 'K', 7, '.')).toBe(7);
    expect(read('M', 0xe9, 3, '.')).toBe(1001);
    expect(read('J', 0xff, 0xff, 0xff, 0xff, '.')).toBe(-1);
    expect(read(0x8a, 3, 1, 0, 1, '.')).toBe(65_537n);
    expect(read(0x8a, 1, 0xff, '.')).toBe(-1n);
    expect(read('G', 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, '.')).toBe(1.5);
    expect(read(...text('abc'), '.')).toBe('abc');
    expect(read('(N', 0x88, 0x89, 't.')).toEqual([null, true, false]);
  });

  test('reads lists, tuples and dictionaries, filled one by one or in batches', () => {
    expect(read(']K', 1, 'a(K', 2, 'K', 3, 'e.')).toEqual([1, 2, 3]);
    expect(read('K', 1, 0x85, 'K', 2, 0x86, '.')).toEqual([[1], 2]);
    expect(read('}K', 1, 'K', 2, 's(K', 3, 'K', 4, 'u.')).toEqual(
      new Map([
        [1, 2],
        [3, 4],
      ]),
    );
  });

  test('returns the same object for a memoized value', () => {
    const [first, second] = read('(]q', 0, 'h', 0, 't.') as unknown[];
    expect(second).toBe(first);
  });

  test('reads consecutive pickles', () => {
    const reader = new PickleReader(bytesOf('K', 1, '.K', 2, '.'));
    expect([reader.pickle(GLOBALS), reader.pickle(GLOBALS)]).toEqual([1, 2]);
  });
});

describe('globals', () => {
  test('that are provided are called or referenced; attributes are ignored', () => {
    expect(read('cm\npair\n(K', 1, 'K', 2, 'tR.')).toEqual({ pair: [1, 2] });
    expect(read('cm\nKind\n.')).toBe('m Kind');
    expect(read('ccollections\nOrderedDict\n)R}b.')).toEqual(new Map());
    expect(read('K', 5, 'Q.')).toEqual({ persistentLoad: 5 });
  });

  test.each(['os\nsystem', 'builtins\neval', 'm\nconstructor', '__proto__\ntoString', 'm\n__proto__'])(
    'that are not provided are rejected: %j',
    (name) => {
      expect(() => read(`c${name}\n(`, ...text('echo'), 'tR.')).toThrow('is not allowed');
    },
  );

  test('references and strings cannot be called, and arguments must be a tuple', () => {
    expect(() => read('cm\nKind\n)R.')).toThrow('cannot be called');
    expect(() => read(...text('toString'), ')R.')).toThrow('cannot be called');
    expect(() => read('cm\npair\nNR.')).toThrow('cannot be called');
  });
});

describe('rejects an invalid pickle', () => {
  test.each([
    ['unknown instructions', [0x93, '.'], /instruction 147/],
    ['an empty stack', ['.'], /more values than it has/],
    ['no mark', ['t.'], /more values than it has/],
    ['an item for a value that is not a list', ['K', 1, 'K', 2, 'a.'], /not a container/],
    ['an entry for a value that is not a dictionary', ['K', 1, 'K', 2, 'K', 3, 's.'], /not a container/],
    ['a missing end', ['K'], /too short/],
    ['a string longer than the file', ['X', 255, 255, 255, 255, 'a'], /too short/],
    ['a name without an end', ['cos'], /too short/],
  ] as const)('with %s', (_, parts, message) => {
    expect(() => read(...parts)).toThrow(message);
  });

  test('with too many instructions', () => {
    expect(() => new PickleReader(new Uint8Array(1_000_001).fill('N'.charCodeAt(0))).pickle(GLOBALS)).toThrow(
      'more than 1000000 instructions',
    );
  });

  test('of random bytes with an error of this reader, or returns a value', () => {
    const letters = [...'N()]}taesuqhcRQb.KMXJG'].map((letter) => letter.charCodeAt(0));
    const byte = fc.oneof(fc.constantFrom(...letters), fc.nat(255));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 60 }), (bytes) => {
        try {
          new PickleReader(Uint8Array.from(bytes)).pickle(GLOBALS);
        } catch (error) {
          expect(String(error)).toMatch(/^Error: The (file|pickle) /);
        }
      }),
    );
  });
});
