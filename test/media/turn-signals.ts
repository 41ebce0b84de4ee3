/** The synthetic signals whose features and probabilities are in src/engines/smart-turn/fixtures/reference.json. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';

const samplesOf = (length: number, sample: (index: number) => number): Float32Samples =>
  Float32Array.from({ length }, (_, index) => sample(index));

/** Deterministic noise in -1…1. Call the result once per sample, in order. */
function noise(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Twelve harmonics of a moving pitch, in syllables. */
function voice(index: number): number {
  const t = index / LISTEN_RATE_HZ;
  const pitch = 2 * Math.PI * (120 * t + 10 * Math.sin(t));
  let sum = 0;
  for (let k = 1; k <= 12; k++) sum += Math.sin(k * pitch) / k;
  return sum * Math.max(0, Math.sin(2 * Math.PI * 1.5 * t));
}

export function turnSignals(): Readonly<Record<string, Float32Samples>> {
  const [first, second, third] = [noise(), noise(), noise()];
  return {
    'voice of 1.5 s': samplesOf(24_000, (index) => 0.1 * voice(index) + 0.001 * first()),
    'voice of 8 s': samplesOf(128_000, (index) => 0.1 * voice(index)),
    'voice of 9.37 s': samplesOf(149_999, (index) => 0.2 * voice(index) + 0.01 * second()),
    'soft noise with an offset': samplesOf(40_000, () => 0.1 + 0.001 * third()),
    silence: samplesOf(8_000, () => 0),
  };
}
