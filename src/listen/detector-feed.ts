/** Sends queued audio to a voice activity detector. */

import { decodeToFloat32 } from '../audio/codec.ts';
import type { VadEvent, VadStream } from '../contract/engines/engine.ts';
import type { AudioQueue } from './audio-queue.ts';

/** Maximum length of one write, in seconds. One write is pending at a time, so the detector buffers at most this much. */
const MAX_CHUNK_S = 1;

export interface DetectorFeedDeps {
  readonly stream: VadStream;
  readonly queue: AudioQueue;
  /** Called after each write with the range of the queue that the detector has processed. */
  readonly onProcessed: (fromSample: number, toSample: number) => void;
  /** Called after that. Positions refer to the queue. */
  readonly onEvents: (events: readonly VadEvent[]) => void;
  /** Called at most once. The feed is then closed. */
  readonly onFailure: (error: unknown) => void;
}

/** Feeds a detector stream, which it owns, with the samples of a queue, starting with the oldest buffered sample. */
export class DetectorFeed {
  readonly #deps: DetectorFeedDeps;
  readonly #startSample: number;
  #processedSample: number;
  #isBusy = false;
  #processing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: DetectorFeedDeps) {
    this.#deps = deps;
    this.#startSample = deps.queue.startSample;
    this.#processedSample = this.#startSample;
  }

  /** Position up to which the detector has processed the audio. */
  get processedSample(): number {
    return this.#processedSample;
  }

  /** Starts to process the queue, unless this is already in progress. Call it after each push. */
  start(): void {
    if (!this.#isBusy) this.#processing = this.#processQueue();
  }

  /** Resolves when all audio of the queue is processed or the feed is closed. */
  get settled(): Promise<void> {
    return this.#processing;
  }

  /** Closes the detector stream. No callback follows, not even for a pending write. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#deps.stream.close();
  }

  async #processQueue(): Promise<void> {
    const { stream, queue, onProcessed, onEvents, onFailure } = this.#deps;
    const { encoding, rateHz } = queue.format;
    this.#isBusy = true;
    while (!this.#isClosed && this.#processedSample < queue.endSample) {
      const to = Math.min(queue.endSample, this.#processedSample + rateHz * MAX_CHUNK_S);
      let events: readonly VadEvent[];
      try {
        events = await stream.write(decodeToFloat32(queue.bytes(this.#processedSample, to), encoding));
      } catch (error) {
        if (this.#isClosed) return;
        this.close();
        onFailure(error);
        return;
      }
      if (this.#isClosed) return;
      onProcessed(this.#processedSample, to);
      this.#processedSample = to;
      onEvents(events.length === 0 ? events : events.map((event) => this.#toQueuePosition(event)));
    }
    this.#isBusy = false;
  }

  /** Converts the stream positions of an event to queue positions. */
  #toQueuePosition(event: VadEvent): VadEvent {
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
