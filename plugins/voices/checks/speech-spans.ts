/** Where a clip has speech. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { VadEngine, VadEvent, VadSettings } from '../../../src/contract/engines/engine.ts';

/** A pause that is shorter belongs to the speech around it. */
const SETTINGS: VadSettings = {
  threshold: 0.5,
  prefixPaddingMs: 0,
  silenceDurationMs: 300,
  minSpeechDurationMs: 100,
};
/** Of one write: the detector holds no more of the clip at a time. */
const PIECE_SAMPLES = LISTEN_RATE_HZ;

/** Samples from `start` to before `end`. */
export interface SpeechSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Spans of speech in order, apart from each other and inside the clip.
 * @param samples at {@link LISTEN_RATE_HZ}.
 * @throws ServiceError `overloaded` when the detector has too much to do, `internal` when it died; the signal's reason
 *   after an abort.
 */
export async function speechSpans(
  vad: VadEngine,
  samples: Float32Samples,
  signal: AbortSignal,
): Promise<readonly SpeechSpan[]> {
  const stream = vad.openStream(SETTINGS, LISTEN_RATE_HZ);
  const events: VadEvent[] = [];
  try {
    for (let at = 0; at < samples.length; at += PIECE_SAMPLES) {
      signal.throwIfAborted();
      events.push(...(await stream.write(samples.slice(at, at + PIECE_SAMPLES))));
    }
    events.push(...(await stream.end()));
  } finally {
    stream.close();
  }
  const spans: SpeechSpan[] = [];
  let start = 0;
  for (const event of events) {
    if (event.kind === 'started') start = event.onsetSample;
    else if (event.kind === 'stopped') spans.push({ start, end: Math.min(event.endSample, samples.length) });
  }
  return spans;
}

/** What lies in the spans, one after the other. */
export function spokenParts(samples: Float32Samples, spans: readonly SpeechSpan[]): Float32Samples {
  const parts = new Float32Array(lengthOf(spans));
  let at = 0;
  for (const { start, end } of spans) {
    parts.set(samples.subarray(start, end), at);
    at += end - start;
  }
  return parts;
}

/** Samples of all spans together. */
export function lengthOf(spans: readonly SpeechSpan[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
