import { describe, expect, it } from 'vitest';
import { base64Bytes, base64Of, bytesOf, floatsOf, PcmReader } from './pcm.ts';

describe('PcmReader', () => {
  const bytes = new Uint8Array([0x01, 0x00, 0xff, 0x7f, 0x00, 0x80, 0xff, 0xff]);
  const samples = [1, 32767, -32768, -1];

  it('reads little-endian samples', () => {
    expect([...new PcmReader().read(bytes)]).toEqual(samples);
  });

  it.each([1, 3, 5, 7])('accepts a split after byte %i', (cut) => {
    const reader = new PcmReader();
    expect([...reader.read(bytes.subarray(0, cut)), ...reader.read(bytes.subarray(cut))]).toEqual(samples);
  });

  it('accepts single bytes and empty chunks', () => {
    const reader = new PcmReader();
    const read = [...bytes].flatMap((byte) => [
      ...reader.read(new Uint8Array([byte])),
      ...reader.read(new Uint8Array(0)),
    ]);
    expect(read).toEqual(samples);
  });
});

describe('base64', () => {
  it('encodes samples in little-endian order', () => {
    expect(base64Of(Int16Array.of(1, -32768))).toBe(Buffer.from([1, 0, 0, 0x80]).toString('base64'));
    expect(base64Of(new Int16Array(0))).toBe('');
  });

  it.each([0, 1, 2, 3, 100])('of %i samples has a known number of bytes', (length) => {
    expect(base64Bytes(base64Of(new Int16Array(length)))).toBe(length * 2);
  });

  it('round-trips input of any size', () => {
    const samples = Int16Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 65536);
    expect(new PcmReader().read(bytesOf(base64Of(samples)))).toEqual(samples);
  });
});

describe('floatsOf', () => {
  it('stays within -1 and 1', () => {
    expect([...floatsOf(Int16Array.of(-32768, 0, 16384))]).toEqual([-1, 0, 0.5]);
  });
});
