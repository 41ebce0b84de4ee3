/** Gives audio to a detector, piece by piece as it is judged. */

import { decodeToFloat32 } from '../audio/codec.ts';
import type { VadEvent, VadStream } from '../contract/engines/engine.ts';
import type { AudioQueue } from './audio-queue.ts';

/** Longest piece: one write is under way at a time, so a detector never holds more of a stream. */
const MAX_PIECE_S = 1;

export interface DetectorFeedDeps {
  readonly stream: VadStream;
  readonly run: AudioQueue;
  /** Called after each piece, with the positions of the run. */
  readonly judged: (events: readonly VadEvent[]) => void;
  /** Called once at most; the feed is closed then. */
  readonly failed: (error: unknown) => void;
}

/** One stream of a detector, from the first sample that a run holds. It owns the stream. */
export class DetectorFeed {
  readonly #parts: DetectorFeedDeps;
  readonly #startSample: number;
  #judgedSample: number;
  #isBusy = false;
  #judging: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: DetectorFeedDeps) {
    this.#parts = parts;
    this.#startSample = parts.run.startSample;
    this.#judgedSample = this.#startSample;
  }

  /** Position up to which audio was written and answered. */
  get judgedSample(): number {
    return this.#judgedSample;
  }

  /** There is more in the run. It is written now, or once the detector has answered. */
  more(): void {
    if (!this.#isBusy) this.#judging = this.#judge();
  }

  /** Resolves when all that the run holds has been judged, or the feed is closed. */
  get settled(): Promise<void> {
    return this.#judging;
  }

  /** Nothing is told any more, not even what is being judged. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#parts.stream.close();
  }

  async #judge(): Promise<void> {
    const { stream, run, judged, failed } = this.#parts;
    const { encoding, rateHz } = run.format;
    this.#isBusy = true;
    while (!this.#isClosed && this.#judgedSample < run.endSample) {
      const to = Math.min(run.endSample, this.#judgedSample + rateHz * MAX_PIECE_S);
      let events: readonly VadEvent[];
      try {
        events = await stream.write(decodeToFloat32(run.bytes(this.#judgedSample, to), encoding));
      } catch (error) {
        if (this.#isClosed) return;
        this.close();
        failed(error);
        return;
      }
      if (this.#isClosed) return;
      this.#judgedSample = to;
      judged(events.length === 0 ? events : events.map((event) => this.#inRun(event)));
    }
    this.#isBusy = false;
  }

  /** Positions of the stream to those of the run. */
  #inRun(event: VadEvent): VadEvent {
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
