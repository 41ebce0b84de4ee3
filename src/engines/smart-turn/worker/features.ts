/**
 * The input features of Smart Turn: the log-mel spectrogram of Whisper, of audio with a mean of 0 and a variance of 1. The
 * silence before short audio is part of the audio for both statistics, as in the training of the model.
 */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { HOP_LENGTH } from '../../../inference/mel/mel-power.ts';
import type { LogMel } from '../../whisper/shared/log-mel.ts';
import { WINDOW_SAMPLES } from '../shared/protocol.ts';

export const MEL_BANDS = 80;
export const FRAMES = WINDOW_SAMPLES / HOP_LENGTH;

/** Added to the variance, so that silence is not divided by zero. */
const VARIANCE_OFFSET = 1e-7;

/**
 * Returns the features, [{@link MEL_BANDS} x {@link FRAMES}], row-major.
 * @param samples at most {@link WINDOW_SAMPLES}. Shorter audio is padded with silence at its start.
 */
export function turnFeatures(samples: Float32Samples, mel: LogMel): Float32Samples {
  const window = new Float32Array(WINDOW_SAMPLES);
  window.set(samples, WINDOW_SAMPLES - samples.length);
  normalize(window);
  return mel.frames(window);
}

/** Scales samples in place to a mean of 0 and a variance of 1. */
function normalize(samples: Float32Samples): void {
  let sum = 0;
  for (const sample of samples) sum += sample;
  const mean = sum / samples.length;
  let squares = 0;
  for (const sample of samples) squares += (sample - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / samples.length + VARIANCE_OFFSET);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = ((samples[index] as number) - mean) * scale;
  }
}
