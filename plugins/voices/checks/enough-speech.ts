import { invalidRequest } from '../../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';
import { type SpeechSpan, totalLength } from './speech-spans.ts';

/** Minimum duration of speech, in seconds. */
const MIN_S = 3;
/** Minimum share of speech in the clip. */
const MIN_SHARE = 0.5;

/**
 * Rejects silence, tones, music, noise, and clips with little speech (docs/decisions/stored-voices.md).
 * @param spans spans of speech at {@link LISTEN_RATE_HZ}.
 * @throws ServiceError `invalid_request`.
 */
export function requireSpeech(spans: readonly SpeechSpan[], durationS: number): void {
  const speechS = totalLength(spans) / LISTEN_RATE_HZ;
  if (speechS >= MIN_S && speechS >= durationS * MIN_SHARE) return;
  const found =
    speechS === 0 ? 'no speech' : `${speechS.toFixed(1)} s of speech in ${durationS.toFixed(1)} s`;
  throw invalidRequest(
    `The audio in '${CLIP_FIELD}' has ${found}; it must have at least ${MIN_S} s of speech, for at least ${MIN_SHARE * 100} % of its length.`,
    CLIP_FIELD,
    'invalid_value',
  );
}
