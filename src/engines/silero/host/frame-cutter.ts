/** Converts samples at any rate to frames at 16 kHz and selects the frames that the model must classify. */

import { Resampler } from '../../../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from '../shared/frame.ts';
import { BATCH_ROW_SAMPLES } from '../shared/protocol.ts';
import { BLOCK_SAMPLES, QUIET_ENERGY } from './speech-edges.ts';

/**
 * Number of quiet frames after a sound that are classified by the model, whose probability takes two to four frames to
 * fall. Later quiet frames get the probability 0 and do not update the state of the model.
 */
const HANGOVER_FRAMES = 8;

/** A frame of 512 samples. */
export interface CutFrame {
  /** Variance of each block of 128 samples. */
  readonly energies: readonly number[];
  /** Model input: the 64 samples before the frame and the frame. Undefined for a quiet frame, which is not classified. */
  readonly row: Float32Samples | undefined;
}

/** Splits one stream into frames. The frames do not depend on how the samples are divided into pushes. */
export class FrameCutter {
  readonly #resampler: Resampler<'float32'>;
  /** The end of the previous frame, and the incomplete frame. */
  #row = new Float32Array(BATCH_ROW_SAMPLES);
  #filled = CONTEXT_SAMPLES;
  #quietFrames = HANGOVER_FRAMES;

  /** @throws RangeError when the rate is not one that the service converts. */
  constructor(rateHz: number) {
    this.#resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  }

  /** Appends samples and returns the completed frames. */
  push(samples: Float32Samples): CutFrame[] {
    return this.#cut(this.#resampler.push(samples));
  }

  /** Returns the remaining frames. The last one is padded with silence. */
  flush(): CutFrame[] {
    const frames = this.#cut(this.#resampler.flush());
    return this.#filled > CONTEXT_SAMPLES ? [...frames, ...this.silence()] : frames;
  }

  /** Completes the current frame with silence. */
  silence(): CutFrame[] {
    return this.#cut(new Float32Array(BATCH_ROW_SAMPLES - this.#filled));
  }

  #cut(samples: Float32Array): CutFrame[] {
    const frames: CutFrame[] = [];
    for (let offset = 0; offset < samples.length; ) {
      const count = Math.min(samples.length - offset, BATCH_ROW_SAMPLES - this.#filled);
      this.#row.set(samples.subarray(offset, offset + count), this.#filled);
      this.#filled += count;
      offset += count;
      if (this.#filled === BATCH_ROW_SAMPLES) frames.push(this.#frame());
    }
    return frames;
  }

  #frame(): CutFrame {
    const row = this.#row;
    const energies = energiesOf(row);
    const quiet = energies.every((energy) => energy < QUIET_ENERGY);
    this.#quietFrames = quiet ? this.#quietFrames + 1 : 0;
    const isClassified = this.#quietFrames <= HANGOVER_FRAMES;
    if (isClassified) this.#row = new Float32Array(BATCH_ROW_SAMPLES);
    this.#row.set(row.subarray(FRAME_SAMPLES));
    this.#filled = CONTEXT_SAMPLES;
    return { energies, row: isClassified ? row : undefined };
  }

  close(): void {
    this.#resampler.close();
  }
}

/** Variance of each block of the frame of a row. The variance ignores a constant offset. */
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
