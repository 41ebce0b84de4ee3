/** Sends buffered audio to a voice activity detector. */

import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { VadEvent, VadStream } from '../contract/engines/engine.ts';
import { samplesOf } from './audio-format.ts';
import type { InputBuffer } from './input-buffer.ts';

/** Maximum length of one write: one second. One write is pending at a time, so the detector buffers at most this much. */
const MAX_CHUNK_SAMPLES = LISTEN_RATE_HZ;

export interface DetectorFeedDeps {
  readonly stream: VadStream;
  readonly buffer: InputBuffer;
  /** Called after each write with the range that the detector has processed. All positions refer to the buffer. */
  readonly onProcessed: (fromSample: number, toSample: number, events: readonly VadEvent[]) => void;
  /** Called at most once. The feed is then closed. */
  readonly onFailure: (error: unknown) => void;
}

/** Feeds a detector stream, which it owns, with the samples of a buffer, starting with the oldest buffered sample. */
export class DetectorFeed {
  readonly #deps: DetectorFeedDeps;
  readonly #startSample: number;
  #processedSample: number;
  #isBusy = false;
  #processing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: DetectorFeedDeps) {
    this.#deps = deps;
    this.#startSample = deps.buffer.startSample;
    this.#processedSample = this.#startSample;
  }

  /** Position up to which the detector has processed the audio. */
  get processedSample(): number {
    return this.#processedSample;
  }

  /** Starts to process the buffer, unless this is already in progress. Call it after each push. */
  start(): void {
    if (!this.#isBusy) this.#processing = this.#processBuffer();
  }

  /** Resolves when all audio of the buffer is processed or the feed is closed. */
  get settled(): Promise<void> {
    return this.#processing;
  }

  /** Closes the detector stream. No callback follows, not even for a pending write. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#deps.stream.close();
  }

  async #processBuffer(): Promise<void> {
    const { stream, buffer, onProcessed, onFailure } = this.#deps;
    this.#isBusy = true;
    while (!this.#isClosed) {
      const from = this.#processedSample;
      const to = buffer.convert(from + MAX_CHUNK_SAMPLES);
      if (to <= from) break;
      let events: readonly VadEvent[];
      try {
        events = await stream.write(samplesOf(buffer.converted.bytes(from, to)));
      } catch (error) {
        if (this.#isClosed) return;
        this.close();
        onFailure(error);
        return;
      }
      if (this.#isClosed) return;
      this.#processedSample = to;
      onProcessed(
        from,
        to,
        events.map((event) => this.#toBufferPosition(event)),
      );
    }
    this.#isBusy = false;
  }

  /** Converts the stream positions of an event to buffer positions. */
  #toBufferPosition(event: VadEvent): VadEvent {
    const by = this.#startSample;
    switch (event.kind) {
      case 'started':
        return {
          kind: 'started',
          onsetSample: event.onsetSample + by,
          startSample: event.startSample + by,
        };
      case 'paused':
      case 'stopped':
        return { kind: event.kind, endSample: event.endSample + by };
      case 'resumed':
        return event;
    }
  }
}
