/** Measurements of audio. Samples are mono, full scale ±1. */

const ENVELOPE_MS = 20;

/** Root mean square of each complete interval of `ms`. */
function envelope(samples: Float32Array, rateHz: number, ms = ENVELOPE_MS): Float64Array {
  const size = Math.round((rateHz * ms) / 1000);
  return Float64Array.from({ length: Math.floor(samples.length / size) }, (_, i) =>
    rootMeanSquare(samples.subarray(i * size, (i + 1) * size)),
  );
}

function rootMeanSquare(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Pearson correlation of the loudness envelopes (20 ms) of two signals of one length. */
export function envelopeCorrelation(a: Float32Array, b: Float32Array, rateHz: number): number {
  return correlation(envelope(a, rateHz), envelope(b, rateHz));
}

function correlation(a: Float64Array, b: Float64Array): number {
  const length = Math.min(a.length, b.length);
  const mean = (values: Float64Array) => values.subarray(0, length).reduce((x, y) => x + y, 0) / length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < length; i++) {
    const [x, y] = [(a[i] ?? 0) - meanA, (b[i] ?? 0) - meanB];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

/** Loudness of the whole signal in dB below full scale. */
export function loudnessDb(samples: Float32Array): number {
  return 20 * Math.log10(rootMeanSquare(samples) + 1e-9);
}

/** Silence before the first and after the last 10 ms that are louder than -46 dB. */
export function silentEdges(samples: Float32Array, rateHz: number): { leadMs: number; trailMs: number } {
  const runs = envelope(samples, rateHz, 10);
  const first = runs.findIndex((level) => level > 0.005);
  const last = runs.findLastIndex((level) => level > 0.005);
  return { leadMs: first * 10, trailMs: (runs.length - 1 - last) * 10 };
}

/** Longest silence below -60 dB between the edges of the signal, in ms. */
export function maxGapMs(samples: Float32Array, rateHz: number): number {
  const { leadMs, trailMs } = silentEdges(samples, rateHz);
  const runs = envelope(samples, rateHz, 10);
  let longest = 0;
  let gap = 0;
  for (const level of runs.subarray(leadMs / 10, runs.length - trailMs / 10)) {
    gap = level < 0.001 ? gap + 1 : 0;
    longest = Math.max(longest, gap);
  }
  return longest * 10;
}

/** Silences below -46 dB of at least a length, including those at the edges, in ms. */
export function pausesOf(
  samples: Float32Array,
  rateHz: number,
  minMs: number,
): { readonly startMs: number; readonly endMs: number }[] {
  const runs = envelope(samples, rateHz, 10);
  const pauses: { startMs: number; endMs: number }[] = [];
  let start = 0;
  for (let i = 0; i <= runs.length; i++) {
    if ((runs[i] ?? 1) < 0.005) continue;
    if ((i - start) * 10 >= minMs) pauses.push({ startMs: start * 10, endMs: i * 10 });
    start = i + 1;
  }
  return pauses;
}

/**
 * Audibility of a click at a seam: the second difference at the seam divided by the largest second difference within
 * 10 ms. A smooth seam has a ratio of about 1 or less.
 * @param at index of the first sample after the seam.
 */
export function clickRatio(samples: Float32Array, at: number, rateHz = 24_000): number {
  const bend = (i: number) => Math.abs((samples[i - 1] ?? 0) - 2 * (samples[i] ?? 0) + (samples[i + 1] ?? 0));
  const seam = Math.max(bend(at - 1), bend(at));
  let around = 1e-4;
  const reach = Math.round(rateHz / 100);
  for (let i = at - reach; i <= at + reach; i++) {
    if (Math.abs(i - at) > 2) around = Math.max(around, bend(i));
  }
  return seam / around;
}
