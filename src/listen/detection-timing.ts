/** Derives the audio ranges of turn detection from its settings. */

import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { VadSettings } from '../contract/engines/engine.ts';

/**
 * Maximum distance in ms between the audio that a detector has processed and an edge that it reports, in
 * addition to the configured durations: Silero keeps 1 s of history
 * (`src/engines/silero/host/speech-edges.ts`).
 */
export const DETECTOR_LOOKBACK_MS = 1_040;

/**
 * Audio after the end of speech that is passed to the transcription, so that the last sound is not truncated.
 */
export const TAIL_MS = 100;

/** All lengths are in samples at 16 kHz. */
export interface DetectionTiming {
  /** Audio to retain before the processed position, because a turn may start there. */
  readonly retained: number;
  /**
   * Distance that a reader keeps from the processed position, so that it never reads past the end of its
   * turn.
   */
  readonly lookback: number;
  /** Audio that belongs to a turn after the end of speech: {@link TAIL_MS}, limited to `silence`. */
  readonly tail: number;
  readonly silence: number;
}

export function detectionTiming(detection: VadSettings): DetectionTiming {
  const { prefixPaddingMs, minSpeechDurationMs, silenceDurationMs } = detection;
  const silence = listenSamples(silenceDurationMs);
  return {
    retained: listenSamples(prefixPaddingMs + minSpeechDurationMs + DETECTOR_LOOKBACK_MS),
    lookback: listenSamples(DETECTOR_LOOKBACK_MS),
    tail: Math.min(silence, listenSamples(TAIL_MS)),
    silence,
  };
}

/** Returns the number of samples at 16 kHz of a duration in ms. */
export function listenSamples(durationMs: number): number {
  return Math.round((durationMs * LISTEN_RATE_HZ) / 1000);
}

/** Compares two settings; undefined means that turn detection is off. */
export function sameDetection(one: VadSettings | undefined, other: VadSettings | undefined): boolean {
  if (!one || !other) return one === other;
  return (
    one.threshold === other.threshold &&
    one.prefixPaddingMs === other.prefixPaddingMs &&
    one.silenceDurationMs === other.silenceDurationMs &&
    one.minSpeechDurationMs === other.minSpeechDurationMs
  );
}
