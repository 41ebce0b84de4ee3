import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALAW, allCodes, allValues, MULAW } from '../../test/reference/g711.ts';
import { decodeToFloat32, decodeToInt16, encodeAudio, float32ToInt16, int16ToFloat32 } from './codec.ts';

const everySample = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
const everyCode = Uint8Array.from({ length: 256 }, (_, i) => i);

describe.each([
  ['mulaw', MULAW],
  ['alaw', ALAW],
] as const)('%s matches the tables of G.711', (encoding, table) => {
  test('for all 65,536 linear values', () => {
    expect(encodeAudio(everySample, encoding)).toEqual(allCodes(table));
  });

  test('for all 256 codes', () => {
    expect(decodeToInt16(everyCode, encoding)).toEqual(allValues(table));
  });

  test('for float samples, as for int16', () => {
    expect(encodeAudio(int16ToFloat32(everySample), encoding)).toEqual(allCodes(table));
    expect(decodeToFloat32(everyCode, encoding)).toEqual(
      Float32Array.from(allValues(table), (value) => value / 32_768),
    );
  });
});

test('the corner values published in G.711 are encoded as specified', () => {
  // Table 2, column 6: 0 is 0xFF and -0 is 0x7F, the ends are 0x80 and 0x00; table 1: 0xD5, 0x55, 0xAA, 0x2A.
  const corners = new Int16Array([0, -1, 32_767, -32_768]);
  expect([...encodeAudio(corners, 'mulaw')]).toEqual([0xff, 0x7f, 0x80, 0x00]);
  expect([...encodeAudio(corners, 'alaw')]).toEqual([0xd5, 0x55, 0xaa, 0x2a]);
  expect([...decodeToInt16(new Uint8Array([0x80, 0x00]), 'mulaw')]).toEqual([32_124, -32_124]);
  expect([...decodeToInt16(new Uint8Array([0xaa, 0x2a]), 'alaw')]).toEqual([32_256, -32_256]);
});

describe('pcm16', () => {
  test('is little-endian at any byte alignment', () => {
    expect([...encodeAudio(new Int16Array([0x1234, -2]), 'pcm16')]).toEqual([0x34, 0x12, 0xfe, 0xff]);
    const shifted = new Uint8Array([9, 0x34, 0x12, 0xfe, 0xff]).subarray(1);
    expect([...decodeToInt16(shifted, 'pcm16')]).toEqual([0x1234, -2]);
  });

  test('rejects an odd number of bytes', () => {
    expect(() => decodeToInt16(new Uint8Array(3), 'pcm16')).toThrow(RangeError);
    expect(() => decodeToFloat32(new Uint8Array(3), 'pcm16')).toThrow(
      'requires an even number of bytes, got 3',
    );
  });

  test('round-trips every sample through int16, float and bytes', () => {
    expect(float32ToInt16(int16ToFloat32(everySample))).toEqual(everySample);
    expect(decodeToFloat32(encodeAudio(everySample, 'pcm16'), 'pcm16')).toEqual(int16ToFloat32(everySample));
    expect(encodeAudio(int16ToFloat32(everySample), 'pcm16')).toEqual(encodeAudio(everySample, 'pcm16'));
  });
});

describe('float32 to int16', () => {
  test('rounds to nearest with ties to even, saturates, and maps NaN to 0', () => {
    const scaled = [0.5, 1.5, -0.5, -1.5, 2.4, -2.6, 32_767.4, 32_767.5, 40_000, -32_768.5, -40_000];
    const input = Float32Array.from([
      ...scaled.map((value) => value / 32_768),
      NaN,
      Infinity,
      -Infinity,
      1e38,
      -0,
    ]);
    expect([...float32ToInt16(input)]).toEqual([
      ...[0, 2, 0, -2, 2, -3, 32_767, 32_767, 32_767, -32_768, -32_768],
      ...[0, 32_767, -32_768, 32_767, 0],
    ]);
  });

  test('matches float64 rounding for any float', () => {
    const byDefinition = (value: number): number => {
      if (Number.isNaN(value)) return 0;
      const scaled = value * 32_768;
      const below = Math.floor(scaled);
      const up = scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 !== 0);
      return Math.min(32_767, Math.max(-32_768, up ? below + 1 : below));
    };
    fc.assert(
      fc.property(fc.float32Array({ maxLength: 40 }), (input) => {
        expect(float32ToInt16(Float32Array.from(input))).toEqual(
          Int16Array.from([...input].map(byDefinition)),
        );
      }),
    );
    fc.assert(
      fc.property(fc.float32Array({ min: -1.25, max: 1.25, maxLength: 40 }), (input) => {
        expect(float32ToInt16(Float32Array.from(input))).toEqual(
          Int16Array.from([...input].map(byDefinition)),
        );
      }),
    );
  });
});

test('empty buffers convert to empty buffers', () => {
  expect(encodeAudio(new Int16Array(0), 'mulaw')).toEqual(new Uint8Array(0));
  expect(decodeToInt16(new Uint8Array(0), 'pcm16')).toEqual(new Int16Array(0));
  expect(float32ToInt16(new Float32Array(0))).toEqual(new Int16Array(0));
});
