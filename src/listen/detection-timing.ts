/** What a detection means for the audio: how much is held, and where turns end. */

import { Resampler } from '../audio/resampler.ts';
import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { VadSettings } from '../contract/engines/engine.ts';

/**
 * How far behind what it has judged a detector may find an edge, beside the durations that it was asked for:
 * Silero's remembers one second (`src/engines/silero/host/speech-edges.ts`), and its own filter needs up to 9 ms.
 */
export const DETECTOR_LOOKBACK_MS = 1_040;

/** What a transcript hears after the end of speech, so that a last sound is not cut. */
export const TAIL_MS = 100;

/** Lengths in samples. */
export interface DetectionTiming {
  /** Held behind what has been judged, for a turn that began there. */
  readonly kept: number;
  /** The reader stays so far behind what has been judged, so that it never hears past the end of its turn. */
  readonly behind: number;
  /** Taken behind the end of speech: {@link TAIL_MS} and what the reader's filter needs, within the silence. */
  readonly tail: number;
  readonly silence: number;
}

/** @param rateHz of the audio, as the detector and the reader get it. */
export function detectionTiming(detection: VadSettings, rateHz: number): DetectionTiming {
  const samples = (ms: number) => Math.ceil((ms * rateHz) / 1000);
  const { prefixPaddingMs, minSpeechDurationMs, silenceDurationMs } = detection;
  const silence = Math.round((silenceDurationMs * rateHz) / 1000);
  const filter = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const tail = Math.min(silence, samples(TAIL_MS) + filter.latencySamples);
  filter.close();
  return {
    kept: samples(prefixPaddingMs + minSpeechDurationMs + DETECTOR_LOOKBACK_MS),
    behind: samples(DETECTOR_LOOKBACK_MS),
    tail,
    silence,
  };
}

/** Whether two detections are the same, none being one of them. */
export function sameDetection(one: VadSettings | undefined, other: VadSettings | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.threshold === other.threshold &&
    one.prefixPaddingMs === other.prefixPaddingMs &&
    one.silenceDurationMs === other.silenceDurationMs &&
    one.minSpeechDurationMs === other.minSpeechDurationMs
  );
}
