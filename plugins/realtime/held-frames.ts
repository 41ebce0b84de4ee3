/**
 * Frames of a connection that wait for the lookup of a stored voice. They are handled in order when it has ended; while no lookup is
 * pending, frames do not pass through here.
 */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import type { Logger } from '../../src/contract/core/logger.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { MAX_QUEUED_CHARACTERS, MAX_QUEUED_FRAMES, mebibytes } from './limits.ts';
import type { ProtocolError } from './protocol/errors.ts';
import type { ParsedEvent, RejectedFrame } from './protocol/frame-parser.ts';
import type { VoiceLookupResult } from './session/session.ts';

export interface HeldFramesDeps<Event> {
  readonly voices: Pick<StoredVoices, 'find'>;
  readonly caller: Caller;
  readonly log: Logger;
  /** Called with each held frame, in order. It may start the next lookup. */
  readonly handle: (frame: ParsedEvent<Event>) => void;
}

interface HeldFrame<Event> {
  readonly frame: ParsedEvent<Event>;
  readonly characters: number;
}

export class HeldFrames<Event extends { readonly event_id?: string | null | undefined }> {
  readonly #deps: HeldFramesDeps<Event>;
  readonly #held: HeldFrame<Event>[] = [];
  #characters = 0;
  #lookup: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: HeldFramesDeps<Event>) {
    this.#deps = deps;
  }

  /** Whether a lookup is pending, so that frames must be held. */
  get isHolding(): boolean {
    return this.#lookup !== undefined;
  }

  /**
   * Holds a frame until the pending lookup has ended.
   * @param characters length of the frame as received.
   * @returns the frame as a rejected one if too many frames are held.
   */
  add(frame: ParsedEvent<Event>, characters: number): RejectedFrame | undefined {
    const isFull =
      this.#held.length >= MAX_QUEUED_FRAMES || this.#characters + characters > MAX_QUEUED_CHARACTERS;
    if (isFull) {
      const eventId = 'event' in frame ? (frame.event.event_id ?? null) : frame.eventId;
      return { error: QUEUE_FULL, openaiCode: 'input_audio_buffer_overflow', eventId };
    }
    this.#held.push({ frame, characters });
    this.#characters += characters;
    return undefined;
  }

  /**
   * Looks up a stored voice, and then handles the frames that were held until then.
   * @param ended called with the result, before the held frames are handled. Not called after {@link close}.
   */
  lookUp(voiceId: string, ended: (voice: VoiceLookupResult) => void): void {
    this.#lookup = this.#handleAfter(voiceId, ended);
  }

  /** Discards the held frames. Resolves when no lookup is pending. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#held.length = 0;
    await this.#lookup;
  }

  async #handleAfter(voiceId: string, ended: (voice: VoiceLookupResult) => void): Promise<void> {
    const voice = await this.#find(voiceId);
    this.#lookup = undefined;
    if (this.#isClosed) return;
    ended(voice);
    while (this.#lookup === undefined) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#characters -= next.characters;
      this.#deps.handle(next.frame);
    }
  }

  async #find(voiceId: string): Promise<VoiceLookupResult> {
    const { voices, caller, log } = this.#deps;
    try {
      return (await voices.find(voiceId, caller.organization)) === undefined ? 'missing' : 'found';
    } catch (error) {
      log.error('voice lookup failed', error, { request_id: caller.requestId });
      return 'failed';
    }
  }
}

const QUEUE_FULL: ProtocolError = {
  code: 'buffer_overflow',
  message: `More than ${MAX_QUEUED_FRAMES} events, or ${mebibytes(MAX_QUEUED_CHARACTERS)} of events, are waiting for a session.update that names a voice. Send this event again after the session.updated.`,
  param: null,
};
