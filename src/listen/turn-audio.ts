/** The audio of one turn on its way from the listener to the engine that transcribes it. */

import type { HeardAudio } from '../contract/engine.ts';
import type { AudioFormat } from './audio-format.ts';

/**
 * The audio of one turn, to be read once: mono at 16 kHz, in pieces of at most one second, while more of it may
 * still arrive. A `pause` says that what was given so far may be all. What has been read is freed.
 */
export class TurnAudio implements AsyncIterable<HeardAudio> {
  /** Audio that is complete, for instance a recording. */
  static of(_bytes: Uint8Array, _format: AudioFormat): TurnAudio {
    throw new Error('not yet');
  }

  /** Bytes, as they came, that nobody has read yet. */
  get heldBytes(): number {
    return 0;
  }

  /** Samples at 16 kHz that the reader has been given. */
  get readSamples(): number {
    return 0;
  }

  /** Nobody will read this, or read on: frees what is held, and what may still come. Idempotent. */
  discard(): void {}

  /**
   * Only one reader may ask, once. Its `return()` ends a `next()` that waits, at once. When the turn is dropped,
   * the reader throws {@link TurnDropped}.
   */
  [Symbol.asyncIterator](): AsyncIterator<HeardAudio, undefined> {
    throw new Error('not yet');
  }
}

/** The turn was cleared, or its socket closed, before it was complete. */
export class TurnDropped extends Error {
  override readonly name = 'TurnDropped';
}
