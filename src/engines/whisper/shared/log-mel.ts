/**
 * Whisper's input: the log-mel spectrogram of 16 kHz audio, as in openai/whisper `whisper/audio.py`: mel spectra,
 * log10, the dynamic range cut to 8, (x + 4) / 4.
 */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { FRAME_LENGTH, HOP_LENGTH, MelPower } from '../../mel/mel-power.ts';

/** Frames in the 30 s that Whisper was trained on. */
export const FULL_FRAMES = 3_000;

const HALF = FRAME_LENGTH / 2;
const MIN_POWER = 1e-10;
/** log10 of {@link MIN_POWER}. */
const SILENCE = -10;
/** What lies further below the loudest value, in log10, is raised to it. */
const DYNAMIC_RANGE = 8;

/** Makes log-mel spectrograms; holds its tables and buffers, so one object serves one thread. */
export class LogMel {
  readonly #mel: MelPower;

  /** @param bands 80, or 128 for large-v3 and its kin. */
  constructor(readonly bands: 80 | 128) {
    this.#mel = new MelPower(bands);
  }

  /**
   * Spectrogram of mono audio at {@link LISTEN_RATE_HZ}, [bands x count], band after band.
   *
   * Frame `t` is centred on sample `160 t`. The audio is mirrored at its start. With `count` left out there
   * are floor(samples / 160) frames and the audio is mirrored at its end too; with `count` given silence
   * follows the audio, as Whisper pads an utterance, or what is past the last frame is left out.
   */
  frames(samples: Float32Samples, count?: number): Float32Samples {
    const frames = count ?? Math.floor(samples.length / HOP_LENGTH);
    const { bands } = this;
    const output = new Float32Array(bands * frames);
    // The first frame whose window begins past the audio, and all after it, hear nothing.
    const heard = Math.min(frames, Math.ceil((samples.length + HALF) / HOP_LENGTH));
    const padded = pad(samples, heard, count === undefined);
    let loudest = heard < frames ? SILENCE : Number.NEGATIVE_INFINITY;
    for (let frame = 0; frame < heard; frame += 2) {
      const last = frame + 1 === heard;
      this.#mel.measure(padded, frame * HOP_LENGTH, last);
      loudest = Math.max(loudest, this.#logsInto(this.#mel.first, output, frame, frames));
      if (!last) loudest = Math.max(loudest, this.#logsInto(this.#mel.second, output, frame + 1, frames));
    }
    const floor = loudest - DYNAMIC_RANGE;
    const silence = (Math.max(SILENCE, floor) + 4) / 4;
    for (let band = 0; band < bands; band++) {
      const row = band * frames;
      for (let index = row; index < row + heard; index++) {
        const value = output[index] as number;
        output[index] = (Math.max(value, floor) + 4) / 4;
      }
      output.fill(silence, row + heard, row + frames);
    }
    return output;
  }

  /** Writes log10 of a frame's bands to one column; returns the greatest. */
  #logsInto(powers: Float64Array, output: Float32Array, column: number, frames: number): number {
    let greatest = Number.NEGATIVE_INFINITY;
    for (let band = 0; band < this.bands; band++) {
      const power = powers[band] as number;
      const value = power > MIN_POWER ? Math.log10(power) : SILENCE;
      output[column + band * frames] = value;
      if (value > greatest) greatest = value;
    }
    return greatest;
  }
}

/** The audio as the windows of `frames` frames meet it: half a window before it, and what lacks after it. */
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
