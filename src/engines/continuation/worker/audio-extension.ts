/**
 * Sound after a clip's end, from its last seconds alone: it goes on from where it sounded alike, and from there again.
 * Pieces are joined where their waves fit best (after WSOLA, W. Verhelst and M. Roelands, ICASSP 1993).
 */

import { seededRandom } from '../../../kit/math/seeded-random.ts';

/** What is compared before a joint. */
const MATCH_S = 0.03;
/** Loudness is compared over so much on both sides. */
const LOUDNESS_S = 0.4;
const FADE_S = 0.08;
/** The first joint has nothing to fade from: what it is apart from the end fades. */
const STEP_S = 0.003;
/** A piece is at least so long. */
const MIN_PIECE_S = 0.8;
/** Every so many samples are compared first, then all around the best. */
const COARSE = 8;
/** Parts of the tail, each with one place to go on from. */
const ENTRIES = 6;
/** A difference of so many dB is as bad as waves that have nothing in common. */
const LOUDNESS_RANGE_DB = 9;
const SILENCE = 1e-5;

/**
 * Makes `length` samples that follow the tail.
 * @param tail of each channel the last seconds, −1 to 1; all of one length.
 * @returns as many channels. Silence when the tail is silent or shorter than two pieces.
 */
export function audioBed(
  tail: readonly Float32Array[],
  rateHz: number,
  length: number,
): Float32Array<ArrayBuffer>[] {
  const bed = tail.map(() => new Float32Array(length));
  const mono = mixed(tail);
  const end = mono.length;
  const samples = (seconds: number) => Math.round(seconds * rateHz);
  const energies = energiesOf(mono);
  if (end < 2 * samples(MIN_PIECE_S) || (energies[end] as number) < SILENCE * SILENCE * end) return bed;
  const fade = samples(FADE_S);
  const entries = entriesOf(mono, energies, rateHz);
  // A later joint is where a fade ends, so that both sides are heard in it.
  const random = seededRandom(1);
  let entry = best(entries);
  let from = entry.at;
  let to = 0;
  let lead = 0;
  while (to < length) {
    const piece = Math.min(end - from, length - to);
    const blend = fadeGains(Math.min(lead, piece), entry.likeness);
    for (const [channel, samplesOf] of tail.entries()) {
      const out = bed[channel] as Float32Array;
      for (let n = 0; n < piece; n++) {
        const value = samplesOf[from + n] as number;
        const gain = blend[n];
        out[to + n] = gain === undefined ? value : value * gain.into + (out[to + n] as number) * gain.out;
      }
    }
    // The last samples of a piece are what the next one is faded over.
    to += piece;
    if (to >= length) break;
    to -= fade;
    lead = fade;
    const others = entries.filter((other) => other !== entry || entries.length === 1);
    entry = others[Math.floor(random() * others.length)] ?? entry;
    from = entry.at - fade;
  }
  const { at } = best(entries);
  for (const [channel, samplesOf] of tail.entries()) {
    const step = (samplesOf[end - 1] as number) - (samplesOf[at - 1] as number);
    fadeStep(bed[channel] as Float32Array, step, samples(STEP_S));
  }
  return bed;
}

interface Entry {
  /** What is heard from here on may follow the end. */
  readonly at: number;
  /** Correlation of what is before it with what is before the end, at most 1. */
  readonly likeness: number;
  readonly score: number;
}

function best(entries: readonly Entry[]): Entry {
  return entries.reduce((a, b) => (b.score > a.score ? b : a));
}

/** The best place of each part of the tail to go on from. */
function entriesOf(mono: Float32Array, energies: Float64Array, rateHz: number): Entry[] {
  const end = mono.length;
  const window = Math.round(MATCH_S * rateHz);
  const around = Math.round(LOUDNESS_S * rateHz);
  const first = Math.max(window, Math.round(FADE_S * rateHz));
  const last = end - Math.round(MIN_PIECE_S * rateHz);
  const part = Math.max(1, Math.floor((last - first) / ENTRIES));
  const entries: Entry[] = [];
  for (let start = first; start + part <= last; start += part) {
    let found = { at: start, likeness: -1, score: -Infinity };
    const consider = (at: number, stride: number) => {
      const likeness = correlation(mono, end, at, window, stride);
      const here = power(energies, at, Math.min(end, at + around));
      const there = power(energies, end - around, end);
      const apartDb = Math.abs(10 * Math.log10((here + SILENCE * SILENCE) / (there + SILENCE * SILENCE)));
      const score = likeness - apartDb / LOUDNESS_RANGE_DB;
      if (score > found.score) found = { at, likeness, score };
    };
    for (let at = start; at < start + part; at += COARSE) consider(at, COARSE);
    const coarse = found.at;
    found = { at: coarse, likeness: -1, score: -Infinity };
    for (let at = Math.max(first, coarse - COARSE); at <= Math.min(last, coarse + COARSE); at++)
      consider(at, 1);
    entries.push(found);
  }
  return entries;
}

/** Of the samples before two places, −1 to 1. */
function correlation(mono: Float32Array, a: number, b: number, window: number, stride: number): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let back = 1; back <= window; back += stride) {
    const x = mono[a - back] as number;
    const y = mono[b - back] as number;
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  const norm = Math.sqrt(squaresA * squaresB);
  return norm < 1e-12 ? 0 : product / norm;
}

interface FadeGain {
  readonly into: number;
  readonly out: number;
}

/** Gains of a fade between parts that are alike this much, so that the sum keeps its loudness. */
function fadeGains(length: number, likeness: number): FadeGain[] {
  const alike = Math.max(0, likeness);
  return Array.from({ length }, (_, n) => {
    const into = (n + 0.5) / length;
    const out = 1 - into;
    const loudness = Math.sqrt(into * into + out * out + 2 * into * out * alike);
    return { into: into / loudness, out: out / loudness };
  });
}

/** Begins that much higher, and comes down softly. */
function fadeStep(bed: Float32Array, step: number, length: number): void {
  for (let n = 0; n < Math.min(length, bed.length); n++) {
    bed[n] = (bed[n] as number) + (step * (1 + Math.cos((Math.PI * (n + 1)) / (length + 1)))) / 2;
  }
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const mono = new Float32Array(channels[0]?.length ?? 0);
  for (const channel of channels) {
    for (let n = 0; n < mono.length; n++)
      mono[n] = (mono[n] as number) + (channel[n] as number) / channels.length;
  }
  return mono;
}

/** Sums of squares before each sample, and of all. */
function energiesOf(samples: Float32Array): Float64Array {
  const sums = new Float64Array(samples.length + 1);
  for (let n = 0; n < samples.length; n++) sums[n + 1] = (sums[n] as number) + (samples[n] as number) ** 2;
  return sums;
}

/** Mean square. */
function power(energies: Float64Array, from: number, to: number): number {
  return ((energies[to] as number) - (energies[from] as number)) / (to - from);
}
