import { expect, test } from 'vitest';
import { type AdtsOptions, adtsFrame } from './adts.ts';

const OPTIONS: AdtsOptions = { rateHz: 48_000, frameBytes: 178 };
const HEADER_BYTES = 7;

/** The bits of a block: any payload, the end identifier, and zeros up to the next byte. */
function block(payload: string): Uint8Array {
  const bits = `${payload}111`;
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  return Uint8Array.from(whole.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

function bitsOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
}

/** Reads fill elements and the end. Returns the number of bytes that are filled. */
function readFill(bits: string): number {
  let at = 0;
  const read = (count: number) => {
    at += count;
    return Number.parseInt(bits.slice(at - count, at), 2);
  };
  for (let filled = 0; ; ) {
    const id = read(3);
    if (id === 0b111) {
      expect(bits.slice(at)).toMatch(/^0{0,7}$/);
      return filled;
    }
    expect(id).toBe(0b110);
    let count = read(4);
    if (count === 15) count += read(8) - 1;
    expect(bits.slice(at, at + count * 8)).toBe('0'.repeat(count * 8));
    at += count * 8;
    filled += count;
  }
}

test('a frame has a header with its length', () => {
  const frame = adtsFrame(block('0'), OPTIONS);
  expect([...frame.subarray(0, HEADER_BYTES)]).toEqual([0xff, 0xf1, 0x4c, 0x40, 0x16, 0x5f, 0xfc]);
  const length = ((frame[3] ?? 0) & 3) * 2048 + (frame[4] ?? 0) * 8 + ((frame[5] ?? 0) >> 5);
  expect([length, frame.length]).toEqual([178, 178]);
});

test('every packet is filled to the length of a frame, up to a byte, behind its unchanged content', () => {
  const room = (OPTIONS.frameBytes - HEADER_BYTES) * 8;
  for (let bits = 8; bits <= room - 3; bits++) {
    const payload = '1001011100'.repeat(room).slice(0, bits);
    const frame = adtsFrame(block(payload), OPTIONS);
    const content = bitsOf(frame.subarray(HEADER_BYTES));
    expect(content.slice(0, bits)).toBe(payload);
    readFill(content.slice(bits));
    expect(OPTIONS.frameBytes - frame.length).toBeGreaterThanOrEqual(0);
    expect(OPTIONS.frameBytes - frame.length).toBeLessThanOrEqual(1);
  }
});

test('a longer packet is not truncated', () => {
  const packet = block('10'.repeat(900));
  expect(adtsFrame(packet, OPTIONS).subarray(HEADER_BYTES)).toEqual(packet);
});

test('a rate without an index is rejected', () => {
  expect(() => adtsFrame(block('0'), { ...OPTIONS, rateHz: 24_001 })).toThrow(RangeError);
});
