/** Finds the speech in a clip. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { VadEngine, VadEvent, VadSettings } from '../../../src/contract/engines/engine.ts';

/** Pauses of up to 300 ms are part of the speech. */
const SETTINGS: VadSettings = {
  threshold: 0.5,
  prefixPaddingMs: 0,
  silenceDurationMs: 300,
  minSpeechDurationMs: 100,
};
/** Samples per write, so that the detector buffers only part of the clip. */
const CHUNK_SAMPLES = LISTEN_RATE_HZ;

/** Samples from `start` (inclusive) to `end` (exclusive). */
export interface SpeechSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the spans of speech in order, disjoint and within the clip.
 * @param samples at {@link LISTEN_RATE_HZ}.
 * @throws ServiceError `overloaded` if the detector is overloaded, `internal` if it crashed; the reason of the signal.
 */
export async function speechSpans(
  vad: VadEngine,
  samples: Float32Samples,
  signal: AbortSignal,
): Promise<readonly SpeechSpan[]> {
  const stream = vad.openStream(SETTINGS, LISTEN_RATE_HZ);
  const events: VadEvent[] = [];
  try {
    for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
      signal.throwIfAborted();
      events.push(...(await stream.write(samples.slice(at, at + CHUNK_SAMPLES))));
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

/** Concatenates the samples of the spans. */
export function extractSpeech(samples: Float32Samples, spans: readonly SpeechSpan[]): Float32Samples {
  const speech = new Float32Array(totalLength(spans));
  let at = 0;
  for (const { start, end } of spans) {
    speech.set(samples.subarray(start, end), at);
    at += end - start;
  }
  return speech;
}

/** Total number of samples of the spans. */
export function totalLength(spans: readonly SpeechSpan[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
