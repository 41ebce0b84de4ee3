/** A stored voice as engines see it: whose it is, and what a model needs to speak with it. */

import { ServiceError } from '../core/error.ts';
import type { Id } from '../core/id.ts';

/** What an engine may ask of a stored voice; it asks for no more than it needs. */
export interface SpokenVoice {
  readonly id: Id<'voice'>;
  /** What {@link VoiceFitter} made of the clip, undefined before that and for a voice that no model here was fitted to. */
  readonly adaptation: string | undefined;
  /** Exact transcript of the clip. */
  readonly refText: string;
  /**
   * The clip: WAV, 16-bit mono, at most 15 s.
   * @throws ServiceError `overloaded` when it cannot be had now, `not_found` when the voice was deleted meanwhile.
   */
  clip(signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
}

/** What a request is told whose voice was deleted while it waited. */
export function voiceDeleted(): ServiceError {
  return new ServiceError('not_found', 'The stored voice was deleted.', { code: 'voice_not_found' });
}
