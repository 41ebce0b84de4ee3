import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CustomerChannel } from './customer-channel.ts';

/** The output for bytes that arrive in chunks of these lengths, then the rest. */
function extracted(channels: 1 | 2, bytes: Uint8Array, lengths: readonly number[]): number[] {
  const channel = new CustomerChannel(channels);
  const all: number[] = [];
  let at = 0;
  for (const length of [...lengths, bytes.length]) {
    // The memory is reused afterwards, as that of a socket is.
    const frame = Buffer.from(bytes.slice(at, at + length));
    const samples = channel.extract(frame);
    frame.fill(255);
    expect(samples.length % 2).toBe(0);
    all.push(...samples);
    at += length;
  }
  return all;
}

describe('the customer channel', () => {
  it('is the first of two channels, or the only one', () => {
    const bytes = Uint8Array.of(1, 2, 91, 92, 3, 4, 93, 94);
    expect(extracted(2, bytes, [])).toEqual([1, 2, 3, 4]);
    expect(extracted(1, bytes, [])).toEqual([...bytes]);
  });

  it.each([1, 2] as const)('of %i does not depend on the chunk boundaries', (channels) => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat({ max: 9 }), { maxLength: 40 }),
        (bytes, lengths) => {
          const size = channels * 2;
          const whole = [...bytes.subarray(0, bytes.length - (bytes.length % size))];
          expect(extracted(channels, bytes, lengths)).toEqual(whole.filter((_, at) => at % size < 2));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('buffers single bytes until a pair is complete', () => {
    const channel = new CustomerChannel(2);
    const lengths = [1, 2, 3, 4, 5, 6, 7, 8].map((byte) => channel.extract(Uint8Array.of(byte)).length);
    expect(lengths).toEqual([0, 0, 0, 2, 0, 0, 0, 2]);
    expect(channel.extract(new Uint8Array(0))).toEqual(new Uint8Array(0));
  });
});
