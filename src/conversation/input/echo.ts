/**
 * Recognizes the assistant's own voice in the audio of the user: a client without echo cancellation sends back what it plays.
 */

import { Resampler } from '../../audio/resampler.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { wordsOf } from './speech-content.ts';

/** Correlation of the compared signals above which the audio is an echo. Independent speech usually stays below 0.35. */
const MIN_CORRELATION = 0.5;
/** Share of the words of a transcript that the assistant has just spoken, above which it is an echo. */
const MIN_SHARED_WORDS = 0.7;
/** Rate at which signals are compared: most of the energy of speech is below 1 kHz. */
const COMPARED_RATE_HZ = 2000;
const RESAMPLED_RATE_HZ = 8000;

/**
 * Whether audio is an echo of other audio: at some delay, one signal is largely a scaled copy of the other.
 * @param heard mono, 16 kHz, at most about 1 s.
 * @param played mono, 16 kHz: what may have been played when `heard` was recorded, at most about 3 s.
 */
export function isEchoOf(heard: Float32Samples, played: Float32Samples): boolean {
  return correlation(compared(heard), compared(played)) >= MIN_CORRELATION;
}

/**
 * Whether the words are those that the assistant has just spoken, in the same order.
 * @param spoken text that may have been played when the words were recorded.
 */
export function repeatsSpeech(transcript: string, spoken: string): boolean {
  const words = wordsOf(transcript);
  return words.length > 0 && commonWords(words, wordsOf(spoken)) / words.length >= MIN_SHARED_WORDS;
}

/** Differences of samples at {@link COMPARED_RATE_HZ}: they weaken the periodicity of vowels, which resembles an echo. */
function compared(samples: Float32Samples): Float32Samples {
  const resampler = new Resampler({ fromHz: 16_000, toHz: RESAMPLED_RATE_HZ, format: 'float32' });
  const half = resampler.push(samples);
  resampler.close();
  const step = RESAMPLED_RATE_HZ / COMPARED_RATE_HZ;
  const length = Math.max(0, Math.floor(half.length / step) - 1);
  const result = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    const at = i * step;
    result[i] = sumAt(half, at + step, step) - sumAt(half, at, step);
  }
  return result;
}

function sumAt(samples: Float32Samples, from: number, count: number): number {
  let sum = 0;
  for (let i = from; i < from + count; i++) sum += samples[i] ?? 0;
  return sum;
}

/** Largest normalized cross-correlation of a signal with any equally long part of another one, 0–1. */
function correlation(signal: Float32Samples, other: Float32Samples): number {
  const { length } = signal;
  const energy = energyOf(signal, 0, length);
  if (energy === 0 || other.length < length) return 0;
  // Parts that are almost silent correlate by chance.
  const minEnergy = (0.01 * energyOf(other, 0, other.length) * length) / other.length;
  let partEnergy = energyOf(other, 0, length);
  let largest = 0;
  for (let lag = 0; lag + length <= other.length; lag++) {
    if (partEnergy > minEnergy) {
      let product = 0;
      for (let i = 0; i < length; i++) product += (signal[i] ?? 0) * (other[lag + i] ?? 0);
      largest = Math.max(largest, Math.abs(product) / Math.sqrt(energy * partEnergy));
    }
    partEnergy += (other[lag + length] ?? 0) ** 2 - (other[lag] ?? 0) ** 2;
  }
  return largest;
}

function energyOf(samples: Float32Samples, from: number, to: number): number {
  let energy = 0;
  for (let i = from; i < to; i++) energy += (samples[i] ?? 0) ** 2;
  return energy;
}

/** Length of the longest common subsequence of words. */
function commonWords(words: readonly string[], others: readonly string[]): number {
  let previous = new Array<number>(others.length + 1).fill(0);
  for (const word of words) {
    const row = [0];
    for (const [i, other] of others.entries()) {
      row.push(word === other ? (previous[i] ?? 0) + 1 : Math.max(previous[i + 1] ?? 0, row[i] ?? 0));
    }
    previous = row;
  }
  return previous.at(-1) ?? 0;
}
