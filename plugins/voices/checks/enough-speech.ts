import { invalidRequest } from '../../../src/contract/core/error.ts';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';
import { lengthOf, type SpeechSpan } from './speech-spans.ts';

/** Less tells too little of a voice. */
const MIN_S = 3;
/** Less is a clip of something else in which somebody speaks. */
const MIN_SHARE = 0.5;

/**
 * Refuses silence, tones, music, noise, and clips with a few words in them (docs/decisions/stored-voices.md).
 * @param spans at {@link LISTEN_RATE_HZ}.
 * @throws ServiceError `invalid_request`.
 */
export function requireSpeech(spans: readonly SpeechSpan[], durationS: number): void {
  const speechS = lengthOf(spans) / LISTEN_RATE_HZ;
  if (speechS >= MIN_S && speechS >= durationS * MIN_SHARE) return;
  const found =
    speechS === 0 ? 'no speech' : `${speechS.toFixed(1)} s of speech in ${durationS.toFixed(1)} s`;
  throw invalidRequest(
    `The audio in '${CLIP_FIELD}' has ${found}; it must have at least ${MIN_S} s of speech, and be speech for at least ${MIN_SHARE * 100} % of its length.`,
    CLIP_FIELD,
    'invalid_value',
  );
}
