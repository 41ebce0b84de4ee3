/**
 * What the speaker encoder hears (Resemblyzer, `audio.py` and `voice_encoder.py`): mel spectra, not logarithms, of audio
 * that was made at least as loud as -30 dB, in overlapping runs of 1.6 s.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { FRAME_LENGTH, HOP_LENGTH, MelPower } from '../../mel/mel-power.ts';
import { MEL_BANDS } from '../import/graph.ts';

/** Frames of a run: 1.6 s. */
export const RUN_FRAMES = 160;
/** Frames from one run to the next: 1.3 runs a second. */
const RUN_STEP = Math.round(LISTEN_RATE_HZ / 1.3 / HOP_LENGTH);
/** Of the last run, what must be filled with audio. */
const MIN_COVERAGE = 0.75;
const TARGET_RMS = 10 ** (-30 / 20);

/**
 * @param samples mono at {@link LISTEN_RATE_HZ}, not empty.
 * @returns runs one after the other, each [{@link RUN_FRAMES} x {@link MEL_BANDS}]; at least one.
 */
export function melRuns(samples: Float32Samples): Float32Array[] {
  const starts = runStarts(samples.length);
  const frames = (starts.at(-1) ?? 0) + RUN_FRAMES;
  // Half a frame of silence before the audio, and silence behind it.
  const padded = new Float32Array((frames - 1) * HOP_LENGTH + FRAME_LENGTH);
  const gain = gainFor(samples);
  const heard = Math.min(samples.length, padded.length - FRAME_LENGTH / 2);
  for (let i = 0; i < heard; i++) padded[FRAME_LENGTH / 2 + i] = gain * (samples[i] ?? 0);
  const spectrum = new Float32Array(frames * MEL_BANDS);
  const mel = new MelPower(MEL_BANDS);
  for (let frame = 0; frame < frames; frame += 2) {
    const alone = frame + 1 === frames;
    mel.measure(padded, frame * HOP_LENGTH, alone);
    spectrum.set(mel.first, frame * MEL_BANDS);
    if (!alone) spectrum.set(mel.second, (frame + 1) * MEL_BANDS);
  }
  return starts.map((start) => spectrum.subarray(start * MEL_BANDS, (start + RUN_FRAMES) * MEL_BANDS));
}

/** First frame of each run. */
function runStarts(length: number): number[] {
  const frames = Math.ceil((length + 1) / HOP_LENGTH);
  const starts: number[] = [];
  for (let start = 0; start < Math.max(1, frames - RUN_FRAMES + RUN_STEP + 1); start += RUN_STEP)
    starts.push(start);
  const coverage = (length - (starts.at(-1) ?? 0) * HOP_LENGTH) / (RUN_FRAMES * HOP_LENGTH);
  if (coverage < MIN_COVERAGE && starts.length > 1) starts.pop();
  return starts;
}

/** Quiet audio is made louder, loud audio is left as it is. */
function gainFor(samples: Float32Samples): number {
  let squares = 0;
  for (const sample of samples) squares += sample * sample;
  const rms = Math.sqrt(squares / samples.length);
  return rms > 0 ? Math.max(1, TARGET_RMS / rms) : 1;
}
