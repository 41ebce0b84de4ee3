/**
 * Where speech begins and ends, by the energy of the sound around the place where the model changed its
 * mind. The model judges frames of 32 ms and follows a change one to three frames late; the envelope has
 * steps of 8 ms. All positions here are blocks, counted from the start of the stream.
 */

/** Samples of a block at 16 kHz: 8 ms. */
export const BLOCK_SAMPLES = 128;
/** Blocks of a frame of 512 samples. */
const FRAME_BLOCKS = 4;
/** What is remembered: 1 s. */
const MEMORY_BLOCKS = 128;

/** Energy, as the square of full scale, below which there is nothing to hear: -60 dB. */
export const QUIET_ENERGY = 1e-6;
/** Speech is what lies within 37 dB of its loudest block, */
const RANGE = 2e-4;
/** and 6 dB above the noise, which in a block of 8 ms goes up and down by less than 2 dB, */
const ABOVE_NOISE = 4;
/** or 2 dB above it, where noise leaves speech less than 6 dB of room: */
const MIN_ABOVE_NOISE = 1.6;
/** then the loudest 6 dB are speech. */
const MIN_RANGE = 0.25;
/** Noise that is less than 30 dB below the speech hides how it fades. */
const MASKING = 1e-3;

/** A plosive's closure, as in `stop`: so much silence does not separate sounds. */
const GAP_BLOCKS = 10;
/** How far the first sounds may lie before the frame that the model was sure of: 320 ms. */
const LOOK_BACK_BLOCKS = 40;
/** From the end of clean speech to the end of the frame at which the model is sure of it: mostly 96 ms. */
const LAG_BLOCKS = 12;

/** Energies of the last blocks. */
export interface Envelope {
  readonly energies: readonly number[];
  /** Position after the last block. */
  readonly end: number;
}

export const nothingHeard: Envelope = { energies: [], end: 0 };

/** Adds the energies of a frame, forgetting what is older than {@link MEMORY_BLOCKS}. */
export function heard({ energies, end }: Envelope, frame: readonly number[]): Envelope {
  const kept = energies.slice(Math.max(0, energies.length + frame.length - MEMORY_BLOCKS));
  return { energies: [...kept, ...frame], end: end + frame.length };
}

function energyAt({ energies, end }: Envelope, block: number): number {
  return energies[block - end + energies.length] ?? 0;
}

function firstBlock({ energies, end }: Envelope): number {
  return end - energies.length;
}

/** Energy of the quietest frame before a block; undefined when there is none. */
export function noiseBefore(envelope: Envelope, block: number): number | undefined {
  let least: number | undefined;
  for (let start = firstBlock(envelope); start + FRAME_BLOCKS <= block; start += FRAME_BLOCKS) {
    let sum = 0;
    for (let i = 0; i < FRAME_BLOCKS; i++) sum += energyAt(envelope, start + i);
    least = Math.min(least ?? Number.POSITIVE_INFINITY, sum / FRAME_BLOCKS);
  }
  return least;
}

/** What of a sound is speech. */
export interface SpeechLevel {
  /** Energy above which a block belongs to it. */
  readonly energy: number;
  /** Noise hides how it fades. */
  readonly masked: boolean;
}

/** The level of the speech that is loudest from block `from` on. */
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
 * The first block of the sound that reaches into the frame at `crossing`, where the model became sure;
 * undefined when that frame is no longer remembered.
 * @param earliest where the turn before ended.
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
 * Where speech ended that the model, at the end of the envelope, is sure to be over: after its last block.
 * In noise, which hides how it fades, not earlier than the model's usual lag before.
 */
export function endBefore(envelope: Envelope, level: SpeechLevel, onset: number): number {
  const byModel = Math.max(onset, envelope.end - LAG_BLOCKS);
  const end = lastSound(envelope, level.energy, onset) ?? byModel;
  return level.masked ? Math.max(end, byModel) : end;
}

/** Position after the last block from `from` on that is above an energy. */
export function lastSound(envelope: Envelope, energy: number, from: number): number | undefined {
  for (let block = envelope.end - 1; block >= Math.max(from, firstBlock(envelope)); block--) {
    if (energyAt(envelope, block) > energy) return block + 1;
  }
  return undefined;
}
