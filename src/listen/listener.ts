/** Audio as it arrives to turns: what is buffered, who speaks from when to when, what was committed. */

import type { VadEngine, VadSettings } from '../contract/engine.ts';
import type { Id } from '../contract/id.ts';
import type { AudioFormat } from './audio-format.ts';
import type { TurnAudio } from './turn-audio.ts';

/** What somebody said, or what was committed by hand. */
export interface Turn {
  readonly itemId: Id<'item'>;
  readonly audio: TurnAudio;
}

/** Facts, in order. Positions are ms of all audio since the listener was made, across formats and turns. */
export type ListenerEvent =
  /** The detector found speech; the turn's audio is still arriving. */
  | { readonly kind: 'speech_started'; readonly turn: Turn; readonly audioStartMs: number }
  /** Its turn is over; `committed` follows at once. */
  | { readonly kind: 'speech_stopped'; readonly itemId: Id<'item'>; readonly audioEndMs: number }
  /** The turn's audio is complete. */
  | { readonly kind: 'committed'; readonly turn: Turn }
  /** A turn that had started was cleared; its reader throws `TurnDropped`. */
  | { readonly kind: 'dropped'; readonly itemId: Id<'item'> }
  /** Told once until the detector answers again. */
  | { readonly kind: 'detector_failed'; readonly error: unknown };

export interface ListenerParts {
  readonly vad: VadEngine;
  /** Most bytes that may be buffered between commits. */
  readonly limitBytes: number;
  /** Called for each event, also from within {@link Listener.commit} and its like. */
  readonly report: (event: ListenerEvent) => void;
}

/** Listens to one stream of audio. Nothing here waits: every call takes effect before it returns. */
export class Listener {
  constructor(_parts: ListenerParts) {}

  /** From now on audio comes in this format; turns are detected, or (undefined) committed by hand. */
  configure(_format: AudioFormat, _detection: VadSettings | undefined): void {}

  /** Takes bytes, which belong to the listener from then on; false, and nothing is taken, beyond the limit. */
  append(_bytes: Uint8Array): boolean {
    return false;
  }

  /** Ends the turn here; false when nothing is buffered. */
  commit(): boolean {
    return false;
  }

  /** Drops what is buffered, and an open turn. */
  clear(): void {}

  /** Bytes between commits, as the limit counts them. */
  get heldBytes(): number {
    return 0;
  }

  /** Frees the detector's stream and drops an open turn without a word. Idempotent. */
  close(): void {}
}
