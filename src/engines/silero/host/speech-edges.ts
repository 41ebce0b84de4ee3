/**
 * Locates the start and the end of speech by the energy around a change of the model's classification. The model
 * classifies frames of 32 ms and lags a change by one to three frames; the energy envelope has a resolution of 8 ms. All
 * positions are in blocks from the start of the stream.
 */

/** Samples of a block at 16 kHz: 8 ms. */
export const BLOCK_SAMPLES = 128;
/** Blocks of a frame of 512 samples. */
const FRAME_BLOCKS = 4;
/** Length of the envelope: 1 s. */
const ENVELOPE_BLOCKS = 128;

/** Energy threshold of silence, relative to full scale squared: -60 dB. */
export const QUIET_ENERGY = 1e-6;
/** Dynamic range of speech below its loudest block: 37 dB. */
const RANGE = 2e-4;
/** Required level of speech above the noise: 6 dB. The level of noise varies by less than 2 dB between blocks of 8 ms. */
const ABOVE_NOISE = 4;
/** Required level above the noise if speech is less than 12 dB above it: 2 dB. */
const MIN_ABOVE_NOISE = 1.6;
/** Range below the loudest block that counts as speech in that case: 6 dB. */
const MIN_RANGE = 0.25;
/** Noise less than 30 dB below the speech masks its decay. */
const MASKING = 1e-3;

/** Maximum silence within a sound, such as the closure of a plosive in "stop": 80 ms. */
const GAP_BLOCKS = 10;
/** Maximum distance of the first sound before the frame that the model classified as speech: 320 ms. */
const LOOK_BACK_BLOCKS = 40;
/** Typical lag of the model: from the end of clean speech to the end of the frame that is classified as silence, 96 ms. */
const LAG_BLOCKS = 12;

/** Energies of the most recent blocks. */
export interface Envelope {
  readonly energies: readonly number[];
  /** Position after the last block. */
  readonly end: number;
}

export const EMPTY_ENVELOPE: Envelope = { energies: [], end: 0 };

/** Appends the energies of a frame and drops blocks beyond {@link ENVELOPE_BLOCKS}. */
export function appendFrame({ energies, end }: Envelope, frame: readonly number[]): Envelope {
  const retained = energies.slice(Math.max(0, energies.length + frame.length - ENVELOPE_BLOCKS));
  return { energies: [...retained, ...frame], end: end + frame.length };
}

function energyAt({ energies, end }: Envelope, block: number): number {
  return energies[block - end + energies.length] ?? 0;
}

function firstBlock({ energies, end }: Envelope): number {
  return end - energies.length;
}

/** Mean energy of the quietest frame before a block; undefined when there is none. */
export function noiseBefore(envelope: Envelope, block: number): number | undefined {
  let min: number | undefined;
  for (let start = firstBlock(envelope); start + FRAME_BLOCKS <= block; start += FRAME_BLOCKS) {
    let sum = 0;
    for (let i = 0; i < FRAME_BLOCKS; i++) sum += energyAt(envelope, start + i);
    min = Math.min(min ?? Number.POSITIVE_INFINITY, sum / FRAME_BLOCKS);
  }
  return min;
}

/** Energy threshold between speech and its background. */
export interface SpeechLevel {
  /** Energy above which a block belongs to the speech. */
  readonly energy: number;
  /** Whether noise masks the decay of the speech. */
  readonly masked: boolean;
}

/** Computes the speech level from the loudest block at or after `from`. */
export function speechLevel(envelope: Envelope, from: number, noise: number): SpeechLevel {
  let loudest = 0;
  for (let block = Math.max(from, firstBlock(envelope)); block < envelope.end; block++) {
    loudest = Math.max(loudest, energyAt(envelope, block));
  }
  const inQuiet = Math.max(loudest * RANGE, QUIET_ENERGY);
  const inNoise = Math.max(noise * MIN_ABOVE_NOISE, Math.min(noise * ABOVE_NOISE, loudest * MIN_RANGE));
  return { energy: Math.max(inQuiet, inNoise), masked: noise > loudest * MASKING };
}

/**
 * Returns the first block of the sound that extends into the frame at `crossing`, which the model classified as speech;
 * undefined when the envelope no longer contains that frame.
 * @param earliest end of the previous turn.
 */
export function onsetBefore(
  envelope: Envelope,
  crossing: number,
  energy: number,
  earliest: number,
): number | undefined {
  if (crossing < firstBlock(envelope)) return undefined;
  const limit = Math.max(earliest, crossing - LOOK_BACK_BLOCKS, firstBlock(envelope));
  let onset = crossing;
  for (let block = crossing + FRAME_BLOCKS - 1; block >= crossing; block--) {
    if (energyAt(envelope, block) > energy) onset = block;
  }
  for (let block = onset - 1; block >= limit && onset - block <= GAP_BLOCKS + 1; block--) {
    if (energyAt(envelope, block) > energy) onset = block;
  }
  return onset;
}

/**
 * Returns the end of speech after the model classified the last frame as silence: the position after the last block of
 * speech. If noise masks the decay, the result is not earlier than the typical lag of the model.
 */
export function endBefore(envelope: Envelope, level: SpeechLevel, onset: number): number {
  const byModel = Math.max(onset, envelope.end - LAG_BLOCKS);
  const end = lastSound(envelope, level.energy, onset) ?? byModel;
  return level.masked ? Math.max(end, byModel) : end;
}

/** Position after the last block at or after `from` whose energy exceeds `energy`; undefined when there is none. */
export function lastSound(envelope: Envelope, energy: number, from: number): number | undefined {
  for (let block = envelope.end - 1; block >= Math.max(from, firstBlock(envelope)); block--) {
    if (energyAt(envelope, block) > energy) return block + 1;
  }
  return undefined;
}
