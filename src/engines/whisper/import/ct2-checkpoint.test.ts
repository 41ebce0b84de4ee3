import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ElementType,
  type StoredVariable,
  storedCheckpoint,
} from '../../../../test/generators/ct2-writer.ts';
import { Ct2Checkpoint } from './ct2-checkpoint.ts';

/** A checkpoint with one variable `w` of two rows. */
const only = (type: ElementType, data: ArrayBufferView<ArrayBuffer>, dims = [2, 3]): StoredVariable[] => [
  { name: 'w', dims, type, data },
];
const read = (variables: readonly StoredVariable[], options = {}) =>
  new Ct2Checkpoint(storedCheckpoint(variables, options));
const tensor = (...args: Parameters<typeof read>) => read(...args).tensor('w');

describe('a variable', () => {
  const numbers = [1, -2, 0.5, 0, 96, -1.5];

  test('of floats of any width is converted to float32', () => {
    expect(tensor(only('float32', Float32Array.from(numbers)))).toEqual({
      dims: [2, 3],
      values: Float32Array.from(numbers),
    });
    expect([...tensor(only('float16', Float16Array.from(numbers))).values]).toEqual(numbers);
    const upperHalves = Uint16Array.from(
      new Uint32Array(Float32Array.from(numbers).buffer),
      (bits) => bits >>> 16,
    );
    expect([...tensor(only('bfloat16', upperHalves)).values]).toEqual(numbers);
  });

  test.each([
    ['int8', Int8Array.of(1, -2, 127, -128, 0, 5)],
    ['int16', Int16Array.of(1, -2, 32_767, -32_768, 0, 5)],
    ['int32', Int32Array.of(1, -2, 70_000, -70_000, 0, 5)],
  ] as const)('of %s without a scale', (type, data) => {
    expect([...tensor(only(type, data)).values]).toEqual([...data]);
  });

  test('of int8 with one scale per row', () => {
    const scale = { name: 'w_scale', dims: [2], type: 'float32', data: Float32Array.of(2, 0.5) } as const;
    const variables = [...only('int8', Int8Array.of(2, -4, 127, 1, 0, -1)), scale];
    expect([...tensor(variables).values]).toEqual([1, -2, 63.5, 2, 0, -2]);
  });

  test('of int16 with one scale', () => {
    const scale = { name: 'w_scale', dims: [], type: 'float32', data: Float32Array.of(4) } as const;
    expect([...tensor([...only('int16', Int16Array.of(8, -4, 2, 0, 4, 1)), scale]).values]).toEqual([
      2, -1, 0.5, 0, 1, 0.25,
    ]);
  });

  test('is read at any alignment', () => {
    // Names of increasing length shift the data through all alignments.
    for (const length of [1, 2, 3, 4, 5]) {
      const name = 'n'.repeat(length);
      const data = Float32Array.of(0.1, 7);
      const { values } = read([{ name, dims: [2], type: 'float32', data }]).tensor(name);
      expect(values).toEqual(data);
    }
  });

  test('is read as an integer setting', () => {
    const heads = { name: 'encoder/num_heads', dims: [], type: 'int16', data: Int16Array.of(8) } as const;
    expect(read([heads]).setting('encoder/num_heads')).toBe(8);
  });

  test('is read by its alias, with its scale', () => {
    const scale = { name: 'w_scale', dims: [2], type: 'float32', data: Float32Array.of(2, 4) } as const;
    const checkpoint = read([...only('int8', Int8Array.of(2, 4, 6, 4, 8, 12)), scale], {
      aliases: [
        ['projection', 'w'],
        ['projection_scale', 'w_scale'],
      ],
    });
    expect(checkpoint.has('projection')).toBe(true);
    expect(checkpoint.tensor('projection')).toEqual(checkpoint.tensor('w'));
    expect([...checkpoint.tensor('projection').values]).toEqual([1, 2, 3, 1, 2, 3]);
  });

  test('that is missing is named in the error', () => {
    const checkpoint = read(only('float32', new Float32Array(6)));
    expect(checkpoint.has('v')).toBe(false);
    expect(() => checkpoint.tensor('v')).toThrow("no variable 'v'");
  });
});

describe('a file', () => {
  test('exposes the name of its spec', () => {
    expect(read([]).spec).toBe('WhisperSpec');
    expect(read([], { spec: 'TransformerSpec' }).spec).toBe('TransformerSpec');
  });

  test('may lack the list of aliases, as in the oldest version', () => {
    const whole = storedCheckpoint(only('int8', new Int8Array(6)));
    expect(new Ct2Checkpoint(whole.subarray(0, -4)).tensor('w').dims).toEqual([2, 3]);
  });

  test.each([0, 3, 7, 0x46_54_4c_47])('of version %i is rejected', (version) => {
    expect(() => read([], { version })).toThrow(`its version field is ${version}`);
  });

  test.each([4, 5, 6])('of version %i is read', (version) => {
    expect(read(only('float32', new Float32Array(6)), { version }).has('w')).toBe(true);
  });

  test('that is truncated at any position is rejected', () => {
    const whole = storedCheckpoint(only('float32', new Float32Array(6)), { aliases: [['v', 'w']] });
    // A file that lacks only the list of aliases is valid.
    const withoutAliases = storedCheckpoint(only('float32', new Float32Array(6))).length - 4;
    for (let length = 0; length < whole.length; length++) {
      if (length === withoutAliases) continue;
      expect(() => new Ct2Checkpoint(whole.subarray(0, length))).toThrow('truncated');
    }
  });

  test('with too many variables is rejected before they are read', () => {
    expect(() => read([], { count: 2 ** 32 - 1 })).toThrow('4294967295 variables');
  });

  test('with a length field beyond its end is rejected', () => {
    const variables = only('float32', new Float32Array(6));
    expect(() => read(variables, { lengthBytes: 2 ** 32 - 1 })).toThrow('truncated');
  });

  test('whose data does not match its shape is rejected', () => {
    expect(() => read(only('float32', new Float32Array(6), [2, 4]))).toThrow('w: 24 bytes');
    expect(() => read(only('int8', new Int8Array(7)))).toThrow('w: 7 bytes');
  });

  test('with an unknown element type is rejected', () => {
    expect(() => read(only('float32', new Float32Array(6)), { typeCode: 6 })).toThrow(
      'w: unknown element type',
    );
  });

  test('with an alias of a missing variable is rejected', () => {
    expect(() => read([], { aliases: [['projection', 'w']] })).toThrow(
      "Alias projection refers to the missing variable 'w'",
    );
  });

  test('of random bytes is rejected with an Error of the reader', () => {
    const start = [6, 0, 0, 0, 2, 0, 65, 0, 1, 0, 0, 0];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, plausible) => {
        const file = Uint8Array.from([...(plausible ? start : []), ...bytes]);
        try {
          expect(new Ct2Checkpoint(file).has('w')).toBe(false);
        } catch (error) {
          expect((error as Error).constructor).toBe(Error);
        }
      }),
    );
  });
});
