/** Samples at any rate to frames at 16 kHz, and which of them are worth the model's time. */

import { Resampler } from '../../../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES } from '../shared/protocol.ts';
import { BLOCK_SAMPLES, QUIET_ENERGY } from './speech-edges.ts';

/**
 * Quiet frames after a sound that the model still hears: its probability needs two to four frames to fall.
 * Later ones have a probability of 0, and the model's memory stands still.
 */
const HANGOVER_FRAMES = 8;

/** A frame of 512 samples. */
export interface CutFrame {
  /** Mean square of each block of 128 samples, without the offset. */
  readonly energies: readonly number[];
  /** The 64 samples before it and its own; undefined when there is nothing to hear. */
  readonly row: Float32Samples | undefined;
}

/** Cuts one stream. What comes out depends on the samples alone, not on how they were cut into pushes. */
export class FrameCutter {
  readonly #resampler: Resampler<'float32'>;
  /** The end of the frame before and the frame that is being filled. */
  #row = new Float32Array(BATCH_ROW_SAMPLES);
  #filled = CONTEXT_SAMPLES;
  #quietFrames = HANGOVER_FRAMES;

  /** @throws RangeError when the rate is not one that the service converts. */
  constructor(rateHz: number) {
    this.#resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  }

  /** Frames that the samples complete. */
  push(samples: Float32Samples): CutFrame[] {
    return this.#cut(this.#resampler.push(samples));
  }

  /** The frames of what is left, the last filled up with silence. */
  flush(): CutFrame[] {
    const frames = this.#cut(this.#resampler.flush());
    return this.#filled > CONTEXT_SAMPLES ? [...frames, ...this.silence()] : frames;
  }

  /** Silence up to the end of the frame. */
  silence(): CutFrame[] {
    return this.#cut(new Float32Array(BATCH_ROW_SAMPLES - this.#filled));
  }

  #cut(samples: Float32Array): CutFrame[] {
    const frames: CutFrame[] = [];
    for (let at = 0; at < samples.length; ) {
      const taken = Math.min(samples.length - at, BATCH_ROW_SAMPLES - this.#filled);
      this.#row.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === BATCH_ROW_SAMPLES) frames.push(this.#frame());
    }
    return frames;
  }

  #frame(): CutFrame {
    const row = this.#row;
    const energies = energiesOf(row);
    const quiet = energies.every((energy) => energy < QUIET_ENERGY);
    this.#quietFrames = quiet ? this.#quietFrames + 1 : 0;
    const heard = this.#quietFrames <= HANGOVER_FRAMES;
    if (heard) this.#row = new Float32Array(BATCH_ROW_SAMPLES);
    this.#row.set(row.subarray(FRAME_SAMPLES));
    this.#filled = CONTEXT_SAMPLES;
    return { energies, row: heard ? row : undefined };
  }

  close(): void {
    this.#resampler.close();
  }
}

/** Variances of the blocks of a row's frame: a constant offset is no sound. */
function energiesOf(row: Float32Array): number[] {
  const energies: number[] = [];
  for (let start = CONTEXT_SAMPLES; start < row.length; start += BLOCK_SAMPLES) {
    let sum = 0;
    let squares = 0;
    for (let i = start; i < start + BLOCK_SAMPLES; i++) {
      const sample = row[i] ?? 0;
      sum += sample;
      squares += sample * sample;
    }
    energies.push(Math.max(0, squares - (sum * sum) / BLOCK_SAMPLES) / BLOCK_SAMPLES);
  }
  return energies;
}
