/** Detects quality problems of a clip that do not prevent its use. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';
import type { SpeechSpan } from './speech-spans.ts';

export const WARNING_CODES = ['clipping', 'noise'] as const;

export interface ClipWarning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
}

/** Absolute sample value that counts as full scale. */
const FULL_SCALE = 0.985;
/** Number of consecutive full-scale samples that count as clipping; loud but intact audio has one or two. */
const CLIPPED_RUN_SAMPLES = 3;
/** Share of clipped samples above which clipping is audible. */
const MAX_CLIPPED_SHARE = 0.0005;
/** Minimum signal-to-noise ratio. */
const MIN_SNR_DB = 17;
const FRAME_SAMPLES = 0.02 * LISTEN_RATE_HZ;
/** Share of the quietest frames, which estimate the noise floor. */
const QUIET_SHARE = 0.05;

export interface MeasuredClip {
  /** The recorded samples, at any rate. */
  readonly samples: Float32Samples;
  /** The samples at {@link LISTEN_RATE_HZ}, to which the spans refer. */
  readonly resampled: Float32Samples;
  readonly spans: readonly SpeechSpan[];
}

export function clipWarnings({ samples, resampled, spans }: MeasuredClip): readonly ClipWarning[] {
  const warnings: ClipWarning[] = [];
  if (clippedShare(samples) > MAX_CLIPPED_SHARE) {
    const message = `The audio in '${CLIP_FIELD}' is clipped. A clip with a lower recording level gives a better voice.`;
    warnings.push({ code: 'clipping', message });
  }
  const snrDb = snrOf(resampled, spans);
  if (snrDb < MIN_SNR_DB) {
    const message = `The signal-to-noise ratio of '${CLIP_FIELD}' is only ${Math.max(0, Math.round(snrDb))} dB. A clip with at least ${MIN_SNR_DB} dB gives a better voice.`;
    warnings.push({ code: 'noise', message });
  }
  return warnings;
}

/** Share of the samples that are part of clipped runs. */
export function clippedShare(samples: Float32Samples): number {
  let clipped = 0;
  let run = 0;
  for (const sample of samples) {
    run = Math.abs(sample) >= FULL_SCALE ? run + 1 : 0;
    if (run === CLIPPED_RUN_SAMPLES) clipped += CLIPPED_RUN_SAMPLES;
    else if (run > CLIPPED_RUN_SAMPLES) clipped += 1;
  }
  return clipped / samples.length;
}

/** Power of the speech relative to the quietest frames, in dB; infinite for digital silence. */
function snrOf(resampled: Float32Samples, spans: readonly SpeechSpan[]): number {
  const frames = Array.from({ length: Math.floor(resampled.length / FRAME_SAMPLES) }, (_, at) =>
    powerOf(resampled.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES)),
  ).toSorted((one, other) => one - other);
  const quiet = frames.slice(0, Math.ceil(frames.length * QUIET_SHARE));
  const noise = quiet.reduce((sum, power) => sum + power, 0) / quiet.length;
  let [speech, length] = [0, 0];
  for (const { start, end } of spans) {
    speech += powerOf(resampled.subarray(start, end)) * (end - start);
    length += end - start;
  }
  return 10 * Math.log10(speech / length / noise);
}

function powerOf(samples: Float32Samples): number {
  let squares = 0;
  for (const sample of samples) squares += sample * sample;
  return squares / samples.length;
}
