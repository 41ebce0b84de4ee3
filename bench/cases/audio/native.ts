/**
 * CPU time of the native addon in ns per sample or character: one JSON line per case, best of several runs.
 * `bun bench/cases/audio/native.ts`
 */

import { encodeAudio, float32ToInt16 } from '../../../src/audio/codec.ts';
import { Resampler } from '../../../src/audio/resampler.ts';
import { splitSentences } from '../../../src/audio/sentences.ts';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';

const RUNS = 7;

/** Measures `work`, which processes `units` items, and prints the best run. */
function measure(name: string, units: number, work: () => void): void {
  work();
  let bestMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const startMs = performance.now();
    work();
    bestMs = Math.min(bestMs, performance.now() - startMs);
  }
  console.log(
    JSON.stringify({ case: name, units, ns_per_unit: Number(((bestMs * 1e6) / units).toFixed(2)) }),
  );
}

function noise(length: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(1);
  return Float32Array.from({ length }, () => 2 * random() - 1);
}

const second = noise(48_000);
const pairs = [
  [24_000, 8_000],
  [48_000, 16_000],
  [24_000, 48_000],
  [22_050, 24_000],
  [8_000, 47_999],
] as const;
for (const [fromHz, toHz] of pairs) {
  for (const portable of [false, true]) {
    const resampler = new Resampler({ fromHz, toHz, format: 'float32', portable });
    measure(`resample ${fromHz} to ${toHz}, ${resampler.kernel}, per input sample`, second.length, () => {
      resampler.push(second);
      resampler.flush();
    });
    resampler.close();
  }
}

const samples = float32ToInt16(second);
measure('float32 to int16, per sample', second.length, () => float32ToInt16(second));
measure('float32 to pcm16 bytes, per sample', second.length, () => encodeAudio(second, 'pcm16'));
measure('int16 to mu-law, per sample', samples.length, () => encodeAudio(samples, 'mulaw'));
measure('int16 to A-law, per sample', samples.length, () => encodeAudio(samples, 'alaw'));

const unbroken = 'x'.repeat(5_000);
const prose = 'It was the best of times, and 3.14 was no version. Mr. Gray left! '.repeat(80).slice(0, 5_000);
measure('chunk 5,000 characters without a space, per character', unbroken.length, () =>
  splitSentences(unbroken),
);
measure('chunk 5,000 characters of prose, per character', prose.length, () => splitSentences(prose));
const constructions = 20;
measure('make a 44,100 to 16,000 resampler, each', constructions, () => {
  for (let i = 0; i < constructions; i++)
    new Resampler({ fromHz: 44_100, toHz: 16_000, format: 'int16' }).close();
});
