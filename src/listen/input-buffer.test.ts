import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../test/harness/tier.ts';
import { bits, joined } from '../../tools/harness/media/sample-runs.ts';
import { decodeToFloat32 } from '../audio/codec.ts';
import { resample } from '../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import { type AudioFormat, LISTEN_FORMAT, sampleBytes, samplesOf } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import { InputBuffer } from './input-buffer.ts';
import type { SampleReader } from './sample-reader.ts';

const FORMATS: readonly AudioFormat[] = [
  { encoding: 'pcm16', rateHz: 16_000 },
  { encoding: 'pcm16', rateHz: 24_000 },
  { encoding: 'pcm16', rateHz: 44_100 },
  { encoding: 'mulaw', rateHz: 8000 },
];

const random = seededRandom(5);
const NOISE = Uint8Array.from({ length: 200_000 }, () => Math.floor(random() * 256));

/** The audio as if it were converted in one piece, with silence around it. */
function converted(bytes: Uint8Array, { encoding, rateHz }: AudioFormat): Float32Samples {
  return resample(decodeToFloat32(bytes, encoding), rateHz, LISTEN_RATE_HZ);
}

function readAll(readers: readonly SampleReader[]): Float32Samples {
  return joined(
    readers.flatMap((reader) => {
      const pieces: Float32Samples[] = [];
      while (reader.queue.bufferedSamples > 0) pieces.push(reader.read());
      return [...pieces, reader.finish()];
    }),
  );
}

describe.each(FORMATS)('audio in %o', (format) => {
  it('is converted to the same samples, for any arrival and any order of conversion', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9000), { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(20_000), { minLength: 1, maxLength: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lengths, targets, startPart) => {
          const buffer = new InputBuffer(format);
          const heard = new AudioQueue(LISTEN_FORMAT);
          let at = 0;
          for (const [i, length] of lengths.entries()) {
            buffer.push(NOISE.subarray(at, at + length));
            at += length;
            const from = heard.endSample;
            buffer.converted.copyTo(heard, from, buffer.convert(from + (targets[i % targets.length] ?? 0)));
          }
          const whole = NOISE.subarray(0, at - (at % sampleBytes(format)));
          const expected = converted(whole, format);
          expect(buffer.endSample).toBe(expected.length);
          expect(buffer.bufferedBytes).toBe(at);
          const sooner = samplesOf(heard.bytes(0, heard.endSample));
          expect(bits(sooner)).toBe(bits(expected.subarray(0, heard.endSample)));
          const start = Math.floor(heard.endSample * startPart);
          expect(bits(readAll(buffer.takeFrom(start)))).toBe(bits(expected.subarray(start)));
        },
      ),
      { seed: 3, numRuns: repetitions(20, 60) },
    );
  });

  it('continues after a part of it was taken, with its positions and a partial sample', () => {
    const width = sampleBytes(format);
    const buffer = new InputBuffer(format);
    let taken = 0;
    for (const samples of [1, 1001, 7, 30_001]) {
      const bytes = NOISE.subarray(taken * width, (taken + samples) * width);
      // Splits a sample, if it has several bytes.
      buffer.push(bytes.subarray(0, -1));
      buffer.push(bytes.subarray(-1));
      buffer.push(NOISE.subarray(0, width - 1));
      expect(buffer.bufferedBytes).toBe(bytes.length + width - 1);
      buffer.convert(buffer.startSample + 500);
      const start = buffer.startSample;
      expect(readAll(buffer.takeFrom(start))).toEqual(converted(bytes, format));
      taken += samples;
      expect([buffer.isEmpty, buffer.bufferedBytes]).toEqual([true, width - 1]);
      expect(buffer.receivedSamples).toBe(taken);
      expect(buffer.startSample).toBe(Math.round((taken * LISTEN_RATE_HZ) / format.rateHz));
      // Completes the partial sample and takes it.
      if (width > 1) {
        buffer.push(new Uint8Array(1));
        buffer.takeFrom(buffer.startSample);
        taken += 1;
      }
    }
  });

  it('is discarded up to a position, but not what is not converted', () => {
    const buffer = new InputBuffer(format);
    buffer.push(NOISE.subarray(0, 2 * format.rateHz * sampleBytes(format)));
    buffer.converted.discardBefore(8000);
    expect(buffer.startSample).toBe(0);
    buffer.convert(16_000);
    buffer.converted.discardBefore(8000);
    expect(buffer.startSample).toBe(8000);
    expect(buffer.bufferedBytes).toBe(1.5 * format.rateHz * sampleBytes(format));
  });
});
