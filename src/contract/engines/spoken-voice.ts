/** A stored voice as passed to synthesis engines. */

import { ServiceError } from '../core/error.ts';
import type { Id } from '../core/id.ts';

/** A stored voice. Engines read only the properties that they need. */
export interface SpokenVoice {
  readonly id: Id<'tts-vc-voice_'>;
  /**
   * Adaptation created by a {@link VoiceFitter}; undefined if there is none yet or no local model uses
   * adaptations.
   */
  readonly adaptation: string | undefined;
  /** Exact transcript of the clip. */
  readonly refText: string;
  /**
   * Reads the clip: WAV, 16-bit mono, at most 15 s.
   * @throws ServiceError `overloaded` if the storage is unavailable, `not_found` if the voice was deleted in
   *   the meantime.
   */
  clip(signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
}

/** Creates the error for a voice that was deleted while the request waited. */
export function voiceDeleted(): ServiceError {
  return new ServiceError('not_found', 'The stored voice was deleted.', { code: 'voice_not_found' });
}
