/**
 * Processes the frames of a connection in order. A frame that names a stored voice waits for the lookup of
 * the voice, and all later frames wait behind it. Other frames are processed synchronously.
 */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import type { Logger } from '../../src/contract/core/logger.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { MAX_QUEUED_CHARACTERS, MAX_QUEUED_FRAMES, mebibytes } from './limits.ts';
import type { ProtocolError } from './protocol/errors.ts';
import type { ParsedEvent } from './protocol/frame-parser.ts';
import { namedVoice, type VoiceLookupResult } from './session/session.ts';

/** The part of a client event that the queue uses. */
interface QueuedEvent {
  readonly type: string;
  readonly event_id?: string | null | undefined;
}

export interface FrameQueueDeps<Event extends QueuedEvent> {
  /** Never throws. */
  readonly parse: (raw: string | Uint8Array) => ParsedEvent<Event>;
  readonly voices: Pick<StoredVoices, 'find'>;
  readonly caller: Caller;
  readonly log: Logger;
  /** The part of an event that may name a stored voice. Default: the session of a `session.update`. */
  readonly voiceSource?: (event: Event) => unknown;
  /** @param voice result of the lookup, if the event names a stored voice. */
  readonly deliver: (frame: ParsedEvent<Event>, voice?: VoiceLookupResult) => void;
}

interface QueuedFrame<Event> {
  readonly frame: ParsedEvent<Event>;
  readonly characters: number;
}

export class FrameQueue<Event extends QueuedEvent> {
  readonly #deps: FrameQueueDeps<Event>;
  readonly #queued: QueuedFrame<Event>[] = [];
  #queuedCharacters = 0;
  #lookup: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: FrameQueueDeps<Event>) {
    this.#deps = deps;
  }

  /** Processes or queues a frame. Reports an error if the queue is full. */
  enqueue(raw: string | Uint8Array): void {
    if (this.#isClosed) return;
    const frame = this.#deps.parse(raw);
    if (this.#lookup === undefined) {
      this.#process(frame);
      return;
    }
    const characters = typeof raw === 'string' ? raw.length : 0;
    if (
      this.#queued.length >= MAX_QUEUED_FRAMES ||
      this.#queuedCharacters + characters > MAX_QUEUED_CHARACTERS
    ) {
      this.#deps.deliver({
        error: QUEUE_FULL,
        openaiCode: 'input_audio_buffer_overflow',
        eventId: eventIdOf(frame),
      });
      return;
    }
    this.#queued.push({ frame, characters });
    this.#queuedCharacters += characters;
  }

  /** Discards the queue. Resolves when no lookup is pending. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queued.length = 0;
    await this.#lookup;
  }

  #process(frame: ParsedEvent<Event>): void {
    const { voiceSource = updatedSession } = this.#deps;
    const source = 'event' in frame ? voiceSource(frame.event) : undefined;
    const voiceId = source == null ? undefined : namedVoice(source);
    if (voiceId === undefined) this.#deps.deliver(frame);
    else this.#lookup = this.#deliverWithVoice(frame, voiceId);
  }

  async #deliverWithVoice(frame: ParsedEvent<Event>, voiceId: string): Promise<void> {
    const voice = await this.#lookUpVoice(voiceId);
    this.#lookup = undefined;
    if (this.#isClosed) return;
    this.#deps.deliver(frame, voice);
    while (this.#lookup === undefined) {
      const next = this.#queued.shift();
      if (next === undefined) break;
      this.#queuedCharacters -= next.characters;
      this.#process(next.frame);
    }
  }

  async #lookUpVoice(voiceId: string): Promise<VoiceLookupResult> {
    const { voices, caller, log } = this.#deps;
    try {
      return (await voices.find(voiceId, caller.organization)) === undefined ? 'missing' : 'found';
    } catch (error) {
      log.error('voice lookup failed', error, { request_id: caller.requestId });
      return 'failed';
    }
  }
}

function updatedSession(event: QueuedEvent & { readonly session?: unknown }): unknown {
  return event.type === 'session.update' ? event.session : undefined;
}

function eventIdOf(frame: ParsedEvent<QueuedEvent>): string | null {
  return 'event' in frame ? (frame.event.event_id ?? null) : frame.eventId;
}

const QUEUE_FULL: ProtocolError = {
  code: 'buffer_overflow',
  message: `More than ${MAX_QUEUED_FRAMES} events, or ${mebibytes(MAX_QUEUED_CHARACTERS)} of events, are waiting for a session.update that names a voice. Send this event again after the session.updated.`,
  param: null,
};
