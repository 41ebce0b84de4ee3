import { expect, test } from 'vitest';
import { decodeWav, encodeWav, MAX_WAV_DATA_BYTES, pcmToWav, WAV_HEADER_BYTES, wavHeader } from './wav.ts';

test('the header of a 24 kHz file has the specified fields', () => {
  const header = wavHeader(48_000, 24_000);
  expect(header.length).toBe(WAV_HEADER_BYTES);
  const bytes = [
    ...[0x52, 0x49, 0x46, 0x46, 0xa4, 0xbb, 0x00, 0x00], // RIFF, 48,036
    ...[0x57, 0x41, 0x56, 0x45, 0x66, 0x6d, 0x74, 0x20], // WAVE, fmt
    ...[16, 0, 0, 0, 1, 0, 1, 0], // 16 bytes, PCM, mono
    ...[0xc0, 0x5d, 0x00, 0x00, 0x80, 0xbb, 0x00, 0x00], // 24,000 Hz, 48,000 bytes per second
    ...[2, 0, 16, 0], // 2 bytes per frame, 16 bits
    ...[0x64, 0x61, 0x74, 0x61, 0x80, 0xbb, 0x00, 0x00], // data, 48,000
  ];
  expect([...header]).toEqual(bytes);
});

test('the maximum size of RIFF is accepted', () => {
  const view = new DataView(wavHeader(MAX_WAV_DATA_BYTES, 8_000).buffer);
  expect(MAX_WAV_DATA_BYTES % 2).toBe(0);
  expect(view.getUint32(4, true)).toBe(MAX_WAV_DATA_BYTES + 36);
  expect(view.getUint32(40, true)).toBe(MAX_WAV_DATA_BYTES);
});

test('values that do not fit the header are rejected', () => {
  for (const bytes of [-2, 1, 2.5, NaN, MAX_WAV_DATA_BYTES + 2]) {
    expect(() => wavHeader(bytes, 24_000)).toThrow(RangeError);
  }
  for (const rate of [0, -1, 8_000.5, NaN, 2 ** 31]) {
    expect(() => wavHeader(0, rate)).toThrow('rate must be a positive integer');
  }
});

test('a file has the header and the bytes of the samples', () => {
  const wav = pcmToWav(Uint8Array.of(1, 2, 3, 4), 24_000);
  expect([...wav.subarray(0, WAV_HEADER_BYTES)]).toEqual([...wavHeader(4, 24_000)]);
  expect([...wav.subarray(WAV_HEADER_BYTES)]).toEqual([1, 2, 3, 4]);
  expect(pcmToWav(new Uint8Array(0), 8_000)).toHaveLength(WAV_HEADER_BYTES);
});

test('encoded samples are clipped and decoded again, at any alignment', () => {
  const wav = encodeWav(Float32Array.of(0, 0.5, -1, 2), 22_050);
  const shifted = new Uint8Array(wav.length + 1);
  shifted.set(wav, 1);
  for (const file of [wav, shifted.subarray(1)]) {
    expect(decodeWav(file)).toEqual({
      samples: Float32Array.of(0, 0.5, -1, 32_767 / 32_768),
      rateHz: 22_050,
    });
  }
  expect(encodeWav(Int16Array.of(0, 16_384, -32_768, 32_767), 22_050)).toEqual(wav);
});
