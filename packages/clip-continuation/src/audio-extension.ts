/**
 * Continues the audio of a clip with pieces of its last seconds. Pieces are joined at positions where their waveforms are
 * most similar (after WSOLA, W. Verhelst and M. Roelands, ICASSP 1993).
 */

/** Length of the waveforms that are compared before a joint. */
const MATCH_S = 0.03;
/** Length of the ranges whose loudness is compared on both sides of a joint. */
const LOUDNESS_S = 0.4;
const FADE_S = 0.08;
/** The first piece cannot be cross-faded. Its offset from the last value of the clip decays within this time. */
const OFFSET_DECAY_S = 0.003;
/** Minimum length of a piece. */
const MIN_PIECE_S = 0.8;
/** Stride of the coarse search, in samples. A fine search around the best position follows. */
const COARSE_STRIDE = 8;
/** Number of sections of the tail, each with one entry point. */
const SECTIONS = 6;
/** A loudness difference of this size in dB has the same penalty as uncorrelated waveforms. */
const LOUDNESS_RANGE_DB = 9;
/** Amplitude below which audio counts as silence. */
const SILENCE = 1e-5;

/**
 * Generates `length` samples that follow the tail.
 * @param tail the last seconds of each channel, −1 to 1, all of the same length.
 * @param random returns numbers from 0 to below 1, which select the pieces after the first.
 * @returns the same number of channels. Silence if the tail is silent or shorter than two pieces.
 */
export function extendAudio(
  tail: readonly Float32Array[],
  rateHz: number,
  length: number,
  random: () => number,
): Float32Array<ArrayBuffer>[] {
  const output = tail.map(() => new Float32Array(length));
  const mono = downmix(tail);
  const end = mono.length;
  const samples = (seconds: number) => Math.round(seconds * rateHz);
  const energies = cumulativeEnergy(mono);
  if (end < 2 * samples(MIN_PIECE_S) || (energies[end] as number) < SILENCE * SILENCE * end) return output;
  const fade = samples(FADE_S);
  const entries = findEntries(mono, energies, rateHz);
  // Later pieces start before their entry point, so that the cross-fade ends at it.
  let entry = best(entries);
  let from = entry.at;
  let to = 0;
  let lead = 0;
  while (to < length) {
    const piece = Math.min(end - from, length - to);
    const blend = fadeGains(Math.min(lead, piece), entry.similarity);
    for (const [channel, samplesOf] of tail.entries()) {
      const out = output[channel] as Float32Array;
      for (let n = 0; n < piece; n++) {
        const value = samplesOf[from + n] as number;
        const gain = blend[n];
        out[to + n] = gain === undefined ? value : value * gain.into + (out[to + n] as number) * gain.out;
      }
    }
    // The next piece overlaps the last samples of this one in the cross-fade.
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
    decayOffset(output[channel] as Float32Array, step, samples(OFFSET_DECAY_S));
  }
  return output;
}

/** A position of the tail from which the audio can continue. */
interface Entry {
  /** Index of the first sample. */
  readonly at: number;
  /** Correlation of the samples before the entry with those before the end, at most 1. */
  readonly similarity: number;
  readonly score: number;
}

function best(entries: readonly Entry[]): Entry {
  return entries.reduce((a, b) => (b.score > a.score ? b : a));
}

/** Finds the best entry of each section of the tail. */
function findEntries(mono: Float32Array, energies: Float64Array, rateHz: number): Entry[] {
  const end = mono.length;
  const window = Math.round(MATCH_S * rateHz);
  const around = Math.round(LOUDNESS_S * rateHz);
  const first = Math.max(window, Math.round(FADE_S * rateHz));
  const last = end - Math.round(MIN_PIECE_S * rateHz);
  const section = Math.max(1, Math.floor((last - first) / SECTIONS));
  const entries: Entry[] = [];
  for (let start = first; start + section <= last; start += section) {
    let bestEntry = { at: start, similarity: -1, score: -Infinity };
    const evaluate = (at: number, stride: number) => {
      const similarity = correlation(mono, end, at, window, stride);
      const entryPower = power(energies, at, Math.min(end, at + around));
      const endPower = power(energies, end - around, end);
      const differenceDb = Math.abs(
        10 * Math.log10((entryPower + SILENCE * SILENCE) / (endPower + SILENCE * SILENCE)),
      );
      const score = similarity - differenceDb / LOUDNESS_RANGE_DB;
      if (score > bestEntry.score) bestEntry = { at, similarity, score };
    };
    for (let at = start; at < start + section; at += COARSE_STRIDE) evaluate(at, COARSE_STRIDE);
    const coarse = bestEntry.at;
    bestEntry = { at: coarse, similarity: -1, score: -Infinity };
    for (let at = Math.max(first, coarse - COARSE_STRIDE); at <= Math.min(last, coarse + COARSE_STRIDE); at++)
      evaluate(at, 1);
    entries.push(bestEntry);
  }
  return entries;
}

/** Normalized correlation of the `window` samples before `a` and before `b`, −1 to 1. */
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

/** Gains of a cross-fade that preserve the loudness for signals of the given correlation. */
function fadeGains(length: number, similarity: number): FadeGain[] {
  const correlated = Math.max(0, similarity);
  return Array.from({ length }, (_, n) => {
    const into = (n + 0.5) / length;
    const out = 1 - into;
    const loudness = Math.sqrt(into * into + out * out + 2 * into * out * correlated);
    return { into: into / loudness, out: out / loudness };
  });
}

/** Adds an offset that decays from `step` to 0 within `length` samples. */
function decayOffset(output: Float32Array, step: number, length: number): void {
  for (let n = 0; n < Math.min(length, output.length); n++) {
    output[n] = (output[n] as number) + (step * (1 + Math.cos((Math.PI * (n + 1)) / (length + 1)))) / 2;
  }
}

function downmix(channels: readonly Float32Array[]): Float32Array {
  const mono = new Float32Array(channels[0]?.length ?? 0);
  for (const channel of channels) {
    for (let n = 0; n < mono.length; n++)
      mono[n] = (mono[n] as number) + (channel[n] as number) / channels.length;
  }
  return mono;
}

/** Cumulative sums of squares: element n is the energy of the first n samples. */
function cumulativeEnergy(samples: Float32Array): Float64Array {
  const sums = new Float64Array(samples.length + 1);
  for (let n = 0; n < samples.length; n++) sums[n + 1] = (sums[n] as number) + (samples[n] as number) ** 2;
  return sums;
}

/** Mean square of the samples [from, to). */
function power(energies: Float64Array, from: number, to: number): number {
  return ((energies[to] as number) - (energies[from] as number)) / (to - from);
}
