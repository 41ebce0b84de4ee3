/**
 * Frames of one connection, dealt with in the order in which they came: one that names a stored voice waits until that
 * was looked up, and all that follow wait behind it. Frames that come while nothing is looked up never wait.
 */

import { type ParsedFrame, parseClientFrame } from './protocol/client-events.ts';
import type { Refusal } from './protocol/errors.ts';
import { namedVoice, type VoiceAnswer } from './session/session.ts';

/** Limits of what waits. Clients are told to await `session.updated` (spec 3.4), so none that does comes near them. */
export const MAX_HELD_FRAMES = 1024;
/** Room for the largest frame that a socket takes, and what leads to it. */
export const MAX_HELD_CHARACTERS = 40 * 1024 * 1024;

export interface FrameInboxParts {
  /** Never rejects. */
  readonly lookUp: (voiceId: string) => Promise<VoiceAnswer>;
  /**
   * @param voice what was found out of the voice that a `session.update` names.
   */
  readonly deliver: (frame: ParsedFrame, voice?: VoiceAnswer) => void;
}

interface HeldFrame {
  readonly frame: ParsedFrame;
  readonly characters: number;
}

export class FrameInbox {
  readonly #parts: FrameInboxParts;
  readonly #held: HeldFrame[] = [];
  #heldCharacters = 0;
  #lookingUp: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: FrameInboxParts) {
    this.#parts = parts;
  }

  /** Deals with a frame now, later, or refuses it because too many wait. */
  take(raw: string | Uint8Array): void {
    if (this.#isClosed) return;
    const frame = parseClientFrame(raw);
    if (this.#lookingUp === undefined) {
      this.#dealWith(frame);
      return;
    }
    const characters = typeof raw === 'string' ? raw.length : 0;
    if (this.#held.length >= MAX_HELD_FRAMES || this.#heldCharacters + characters > MAX_HELD_CHARACTERS) {
      this.#parts.deliver({ refusal: TOO_MUCH_HELD, eventId: eventIdOf(frame) });
      return;
    }
    this.#held.push({ frame, characters });
    this.#heldCharacters += characters;
  }

  /** Forgets what waits. Resolves when nothing is looked up any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#held.length = 0;
    await this.#lookingUp;
  }

  #dealWith(frame: ParsedFrame): void {
    const voiceId =
      'event' in frame && frame.event.type === 'session.update' ? namedVoice(frame.event.session) : undefined;
    if (voiceId === undefined) this.#parts.deliver(frame);
    else this.#lookingUp = this.#deliverWithVoice(frame, voiceId);
  }

  async #deliverWithVoice(frame: ParsedFrame, voiceId: string): Promise<void> {
    const voice = await this.#parts.lookUp(voiceId);
    this.#lookingUp = undefined;
    if (this.#isClosed) return;
    this.#parts.deliver(frame, voice);
    while (this.#lookingUp === undefined) {
      const next = this.#held.shift();
      if (next === undefined) break;
      this.#heldCharacters -= next.characters;
      this.#dealWith(next.frame);
    }
  }
}

function eventIdOf(frame: ParsedFrame): string | null {
  return 'event' in frame ? (frame.event.event_id ?? null) : frame.eventId;
}

const TOO_MUCH_HELD: Refusal = {
  code: 'buffer_overflow',
  message: `More than ${MAX_HELD_FRAMES} events, or ${MAX_HELD_CHARACTERS / 1024 / 1024} MiB of them, wait for a session.update that names a voice. Send this event again after its session.updated.`,
  param: null,
};
