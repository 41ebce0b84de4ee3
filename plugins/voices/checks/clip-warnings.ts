/** What makes a clip a poor pattern of a voice, though it may be used. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';
import type { SpeechSpan } from './speech-spans.ts';

export const WARNING_CODES = ['clipping', 'noise'] as const;

export interface ClipWarning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
}

/** Samples from this on are as loud as a recording can be. */
const FULL_SCALE = 0.985;
/** So many of them in a row are a cut-off wave; a loud one touches full scale for one or two. */
const CUT_SAMPLES = 3;
/** Share of the samples that are cut off from which on it is heard. */
const CUT_SHARE = 0.0005;
/** Speech should be so much louder than what is heard between words. */
const MIN_SNR_DB = 17;
const FRAME_SAMPLES = 0.02 * LISTEN_RATE_HZ;
/** Of all frames, the quietest so many are taken for what is there without the voice. */
const QUIET_SHARE = 0.05;

export interface MeasuredClip {
  /** As they were recorded, at any rate. */
  readonly samples: Float32Samples;
  /** At {@link LISTEN_RATE_HZ}, with the speech in them. */
  readonly heard: Float32Samples;
  readonly spans: readonly SpeechSpan[];
}

export function clipWarnings({ samples, heard, spans }: MeasuredClip): readonly ClipWarning[] {
  const warnings: ClipWarning[] = [];
  if (cutShare(samples) > CUT_SHARE) {
    const message = `The audio in '${CLIP_FIELD}' is cut off where it is loud. A clip that is recorded more quietly gives a better voice.`;
    warnings.push({ code: 'clipping', message });
  }
  const snrDb = snrOf(heard, spans);
  if (snrDb < MIN_SNR_DB) {
    const message = `The voice in '${CLIP_FIELD}' is only ${Math.max(0, Math.round(snrDb))} dB louder than the noise around it. A clip without noise, or at least ${MIN_SNR_DB} dB, gives a better voice.`;
    warnings.push({ code: 'noise', message });
  }
  return warnings;
}

/** Share of the samples that belong to cut-off waves. */
export function cutShare(samples: Float32Samples): number {
  let cut = 0;
  let run = 0;
  for (const sample of samples) {
    run = Math.abs(sample) >= FULL_SCALE ? run + 1 : 0;
    if (run === CUT_SAMPLES) cut += CUT_SAMPLES;
    else if (run > CUT_SAMPLES) cut += 1;
  }
  return cut / samples.length;
}

/** Power of the speech over that of the quietest frames, in dB; infinite in digital silence. */
function snrOf(heard: Float32Samples, spans: readonly SpeechSpan[]): number {
  const frames = Array.from({ length: Math.floor(heard.length / FRAME_SAMPLES) }, (_, at) =>
    powerOf(heard.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES)),
  ).toSorted((one, other) => one - other);
  const quiet = frames.slice(0, Math.ceil(frames.length * QUIET_SHARE));
  const noise = quiet.reduce((sum, power) => sum + power, 0) / quiet.length;
  let [speech, length] = [0, 0];
  for (const { start, end } of spans) {
    speech += powerOf(heard.subarray(start, end)) * (end - start);
    length += end - start;
  }
  return 10 * Math.log10(speech / length / noise);
}

function powerOf(samples: Float32Samples): number {
  let squares = 0;
  for (const sample of samples) squares += sample * sample;
  return squares / samples.length;
}
