/**
 * The input features of Whisper: the log-mel spectrogram of 16 kHz audio, as in openai/whisper `whisper/audio.py`: mel
 * power spectra, log10, dynamic range limited to 8, (x + 4) / 4.
 */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { FRAME_LENGTH, HOP_LENGTH, MelPower } from '../../../inference/mel/mel-power.ts';

/** Number of frames of a window of 30 s. */
export const FULL_FRAMES = 3_000;

const HALF = FRAME_LENGTH / 2;
const MIN_POWER = 1e-10;
/** log10 of {@link MIN_POWER}. */
const SILENCE = -10;
/** Dynamic range below the maximum, in log10. Lower values are raised to its end. */
const DYNAMIC_RANGE = 8;

/** Computes log-mel spectrograms. Reuses its buffers, so an instance must not be shared between threads. */
export class LogMel {
  readonly #mel: MelPower;

  /** @param bands 80, or 128 for large-v3 and its variants. */
  constructor(readonly bands: 80 | 128) {
    this.#mel = new MelPower(bands);
  }

  /**
   * Computes the spectrogram of mono audio at 16 kHz, [bands x count], row-major.
   *
   * Frame `t` is centred on sample `160 t`. The audio is mirrored at its start. Without `count` there are
   * floor(samples / 160) frames and the audio is mirrored at its end as well. With `count` the audio is padded with
   * silence, as Whisper pads an utterance, or truncated after the last frame.
   */
  frames(samples: Float32Samples, count?: number): Float32Samples {
    const frames = count ?? Math.floor(samples.length / HOP_LENGTH);
    const { bands } = this;
    const output = new Float32Array(bands * frames);
    // Frames whose window starts after the audio are silent and not computed.
    const audible = Math.min(frames, Math.ceil((samples.length + HALF) / HOP_LENGTH));
    const padded = pad(samples, audible, count === undefined);
    let loudest = audible < frames ? SILENCE : Number.NEGATIVE_INFINITY;
    for (let frame = 0; frame < audible; frame += 2) {
      const last = frame + 1 === audible;
      this.#mel.measure(padded, frame * HOP_LENGTH, last);
      loudest = Math.max(loudest, this.#logsInto(this.#mel.first, output, frame, frames));
      if (!last) loudest = Math.max(loudest, this.#logsInto(this.#mel.second, output, frame + 1, frames));
    }
    const floor = loudest - DYNAMIC_RANGE;
    const silence = (Math.max(SILENCE, floor) + 4) / 4;
    for (let band = 0; band < bands; band++) {
      const row = band * frames;
      for (let index = row; index < row + audible; index++) {
        const value = output[index] as number;
        output[index] = (Math.max(value, floor) + 4) / 4;
      }
      output.fill(silence, row + audible, row + frames);
    }
    return output;
  }

  /** Writes log10 of the bands of a frame to one column and returns the maximum. */
  #logsInto(powers: Float64Array, output: Float32Array, column: number, frames: number): number {
    let max = Number.NEGATIVE_INFINITY;
    for (let band = 0; band < this.bands; band++) {
      const power = powers[band] as number;
      const value = power > MIN_POWER ? Math.log10(power) : SILENCE;
      output[column + band * frames] = value;
      if (value > max) max = value;
    }
    return max;
  }
}

/** Pads the audio for `frames` frames: half a window before it, and the missing samples after it. */
function pad(samples: Float32Samples, frames: number, mirrorEnd: boolean): Float32Array {
  const length = Math.max(0, (frames - 1) * HOP_LENGTH + FRAME_LENGTH);
  const padded = new Float32Array(length);
  padded.set(samples.subarray(0, Math.max(0, length - HALF)), HALF);
  for (let index = 1; index <= HALF; index++) padded[HALF - index] = samples[index] ?? 0;
  if (!mirrorEnd) return padded;
  for (let index = HALF + samples.length; index < length; index++) {
    padded[index] = samples[2 * (samples.length - 1) - (index - HALF)] ?? 0;
  }
  return padded;
}
