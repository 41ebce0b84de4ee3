/**
 * Input features of the speaker encoder (Resemblyzer, `audio.py` and `voice_encoder.py`): linear mel spectra of audio that
 * is amplified to at least -30 dB, in overlapping partials of 1.6 s.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { FRAME_LENGTH, HOP_LENGTH, MelPower } from '../../../inference/mel/mel-power.ts';
import { MEL_BANDS } from '../import/graph.ts';

/** Frames of a partial: 1.6 s. */
export const PARTIAL_FRAMES = 160;
/** Frames between the starts of two partials: 1.3 partials per second. */
const PARTIAL_STEP = Math.round(LISTEN_RATE_HZ / 1.3 / HOP_LENGTH);
/** Minimum share of audio in the last partial. */
const MIN_COVERAGE = 0.75;
const TARGET_RMS = 10 ** (-30 / 20);

/**
 * @param samples mono at {@link LISTEN_RATE_HZ}, not empty.
 * @returns partials in order, each [{@link PARTIAL_FRAMES} x {@link MEL_BANDS}]; at least one.
 */
export function melPartials(samples: Float32Samples): Float32Array[] {
  const starts = partialStarts(samples.length);
  const frames = (starts.at(-1) ?? 0) + PARTIAL_FRAMES;
  // Half a frame of silence before the audio, and silence after it.
  const padded = new Float32Array((frames - 1) * HOP_LENGTH + FRAME_LENGTH);
  const gain = gainFor(samples);
  const count = Math.min(samples.length, padded.length - FRAME_LENGTH / 2);
  for (let i = 0; i < count; i++) padded[FRAME_LENGTH / 2 + i] = gain * (samples[i] ?? 0);
  const spectrum = new Float32Array(frames * MEL_BANDS);
  const mel = new MelPower(MEL_BANDS);
  for (let frame = 0; frame < frames; frame += 2) {
    const single = frame + 1 === frames;
    mel.measure(padded, frame * HOP_LENGTH, single);
    spectrum.set(mel.first, frame * MEL_BANDS);
    if (!single) spectrum.set(mel.second, (frame + 1) * MEL_BANDS);
  }
  return starts.map((start) => spectrum.subarray(start * MEL_BANDS, (start + PARTIAL_FRAMES) * MEL_BANDS));
}

/** First frame of each partial. */
function partialStarts(length: number): number[] {
  const frames = Math.ceil((length + 1) / HOP_LENGTH);
  const starts: number[] = [];
  for (let start = 0; start < Math.max(1, frames - PARTIAL_FRAMES + PARTIAL_STEP + 1); start += PARTIAL_STEP)
    starts.push(start);
  const coverage = (length - (starts.at(-1) ?? 0) * HOP_LENGTH) / (PARTIAL_FRAMES * HOP_LENGTH);
  if (coverage < MIN_COVERAGE && starts.length > 1) starts.pop();
  return starts;
}

/** Gain that amplifies quiet audio to {@link TARGET_RMS}; 1 for louder audio. */
function gainFor(samples: Float32Samples): number {
  let squares = 0;
  for (const sample of samples) squares += sample * sample;
  const rms = Math.sqrt(squares / samples.length);
  return rms > 0 ? Math.max(1, TARGET_RMS / rms) : 1;
}
