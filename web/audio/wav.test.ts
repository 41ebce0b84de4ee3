import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import { readWav, wavFile } from './wav.ts';

describe('wavFile', () => {
  it('matches the header that the service writes', async () => {
    const file = new Uint8Array(
      await wavFile([Int16Array.of(1, -2), Int16Array.of(3)], 24_000).arrayBuffer(),
    );
    expect(file.subarray(0, 44)).toEqual(wavHeader(6, 24_000));
    expect([...file.subarray(44)]).toEqual([1, 0, 0xfe, 0xff, 3, 0]);
  });
});

describe('readWav', () => {
  it('reads what wavFile wrote', async () => {
    const samples = Int16Array.from({ length: 999 }, (_, at) => at * 31);
    const file = await wavFile([samples], 44_100).arrayBuffer();
    expect(readWav(file)).toEqual({ samples, rateHz: 44_100 });
  });

  it('skips unknown chunks, including those of odd length', async () => {
    const header = wavHeader(4, 8_000);
    const list = new Uint8Array([0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 1, 2, 3, 0]);
    const file = new Blob([header.slice(0, 36), list, header.slice(36), new Uint8Array([5, 0, 6, 0])]);
    expect([...readWav(await file.arrayBuffer()).samples]).toEqual([5, 6]);
  });

  it('reads a truncated file up to its end', async () => {
    const file = await wavFile([Int16Array.of(1, 2, 3)], 8_000)
      .slice(0, 49)
      .arrayBuffer();
    expect([...readWav(file).samples]).toEqual([1, 2]);
  });

  it.each([
    ['stereo', 22, 2],
    ['of 8 bits', 34, 8],
    ['of floats', 20, 3],
  ])('rejects audio that is %s', async (_name, at, value) => {
    const file = await wavFile([Int16Array.of(1)], 8_000).arrayBuffer();
    new DataView(file).setUint16(at, value, true);
    expect(() => readWav(file)).toThrow('16-bit mono');
  });

  it('rejects a file that is not WAV', () => {
    expect(() => readWav(new ArrayBuffer(5))).toThrow('WAV');
    expect(() => readWav(new ArrayBuffer(500))).toThrow('WAV');
  });
});
