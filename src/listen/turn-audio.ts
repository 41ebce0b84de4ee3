/** The audio of one turn on its way from the listener to the engine that transcribes it. */

import { decodeToFloat32 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { AudioChunk } from '../contract/engines/engine.ts';
import type { AudioFormat } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';

/** Longest piece that a reader is given. */
const MAX_PIECE_S = 1;
/** While audio arrives in small pieces, a reader that waits is given this much at a time. */
const MIN_PIECE_S = 0.25;

type Result = IteratorResult<AudioChunk, undefined>;
const DONE: Result = { done: true, value: undefined };

/**
 * The audio of one turn, to be read once: mono at 16 kHz, in pieces of at most one second, while more of it may
 * still arrive. A `pause` says that what was given so far may be all. What has been read is freed. The samples
 * depend on the audio alone, not on how it arrived or when it was read.
 */
export class TurnAudio implements AsyncIterable<AudioChunk> {
  /** What nobody has read, oldest first: a run for each format. */
  #runs: AudioQueue[] = [];
  #state: 'arriving' | 'complete' | 'dropped' | 'discarded' = 'arriving';
  /** The filter's last samples stand for silence after the end, and are not left out. */
  #hasEdge = true;
  #isPaused = false;
  #readSamples = 0;
  /** Of the first run, once it is being read. */
  #resampler: Resampler<'float32'> | undefined;
  #isTaken = false;
  #waiting: PromiseWithResolvers<Result> | undefined;

  /** Audio that is complete, for instance a recording. */
  static of(bytes: Uint8Array, format: AudioFormat): TurnAudio {
    const run = new AudioQueue(format);
    run.push(bytes);
    return TurnAudio.ofRuns([run]);
  }

  /** All that is held in runs, which belong to the turn from then on. */
  static ofRuns(runs: AudioQueue[]): TurnAudio {
    const audio = new TurnAudio();
    audio.#runs = runs;
    audio.#state = 'complete';
    return audio;
  }

  /** Bytes, as they came, that nobody has read yet. */
  get heldBytes(): number {
    return this.#runs.reduce((sum, run) => sum + run.heldBytes, 0);
  }

  /** Length of what came so far, read or not; what was discarded unread is left out. */
  get lengthS(): number {
    const heldS = this.#runs.reduce((sum, run) => sum + run.heldSamples / run.format.rateHz, 0);
    return this.#readSamples / LISTEN_RATE_HZ + heldS;
  }

  /** Samples at 16 kHz that the reader has been given. */
  get readSamples(): number {
    return this.#readSamples;
  }

  /** Adds a stretch of a run, to which it is the next one. For the listener, as all that changes the audio. */
  add(run: AudioQueue, fromSample: number, toSample: number): void {
    if (this.#state !== 'arriving') return;
    let last = this.#runs.at(-1);
    if (!last) {
      last = new AudioQueue(run.format, fromSample);
      this.#runs.push(last);
    }
    run.copyTo(last, fromSample, toSample);
    this.#isPaused = false;
    this.#wake();
  }

  /** What was added may be all; adding more takes that back. */
  pause(): void {
    this.#isPaused = true;
    this.#wake();
  }

  /**
   * What was added is all.
   * @param edge `silence` if nothing follows; `open` leaves out the last samples, which what follows would
   *   change: {@link Resampler.latencySamples} at the rate of the audio.
   */
  end(edge: 'silence' | 'open'): void {
    if (this.#state !== 'arriving') return;
    this.#state = 'complete';
    this.#hasEdge = edge === 'silence';
    this.#wake();
  }

  /** There will be no turn: the reader throws {@link TurnDroppedError}. */
  drop(): void {
    if (this.#state !== 'arriving') return;
    this.#free('dropped');
    this.#waiting?.reject(new TurnDroppedError());
    this.#waiting = undefined;
  }

  /** Nobody will read this, or read on: frees what is held, and what may still come. Idempotent. */
  discard(): void {
    if (this.#state === 'dropped') return;
    this.#free('discarded');
    this.#waiting?.resolve(DONE);
    this.#waiting = undefined;
  }

  #free(state: 'dropped' | 'discarded'): void {
    this.#state = state;
    this.#runs = [];
    this.#resampler?.close();
    this.#resampler = undefined;
  }

  /**
   * Only one reader may ask, once. Its `return()` frees all, and ends a `next()` that waits at once.
   * @throws Error for a second reader; the reader throws {@link TurnDroppedError}.
   */
  [Symbol.asyncIterator](): AsyncIterator<AudioChunk, undefined> {
    if (this.#isTaken) throw new Error('The audio of a turn can be read only once.');
    this.#isTaken = true;
    return {
      next: async () => this.#next(),
      return: async () => {
        this.discard();
        return DONE;
      },
    };
  }

  #next(): Result | Promise<Result> {
    if (this.#waiting) throw new Error('The audio of a turn is read piece by piece.');
    const result = this.#take();
    if (result) return result;
    this.#waiting = Promise.withResolvers<Result>();
    return this.#waiting.promise;
  }

  #wake(): void {
    const waiting = this.#waiting;
    const result = waiting && this.#take();
    if (!result) return;
    this.#waiting = undefined;
    waiting.resolve(result);
  }

  /** What the reader is given next; undefined while there is nothing. */
  #take(): Result | undefined {
    if (this.#state === 'dropped') throw new TurnDroppedError();
    for (let run = this.#runs[0]; run; run = this.#runs[0]) {
      const mayGrow = this.#state === 'arriving' && this.#runs.length === 1;
      const { rateHz } = run.format;
      const isFew = run.heldSamples < rateHz * MIN_PIECE_S && !this.#isPaused;
      if (mayGrow && (run.heldSamples === 0 || isFew)) break;
      const samples = run.heldSamples > 0 ? this.#read(run) : this.#leave();
      if (samples.length === 0) continue;
      this.#readSamples += samples.length;
      return { done: false, value: samples };
    }
    if (this.#state !== 'arriving') return DONE;
    if (!this.#isPaused) return undefined;
    this.#isPaused = false;
    return { done: false, value: 'pause' };
  }

  #read(run: AudioQueue) {
    const { rateHz, encoding } = run.format;
    const from = run.startSample;
    const to = Math.min(run.endSample, from + Math.floor(rateHz * MAX_PIECE_S));
    const samples = decodeToFloat32(run.bytes(from, to), encoding);
    run.forget(to);
    this.#resampler ??= new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
    return this.#resampler.push(samples);
  }

  /** Leaves the first run, all of which has been read. */
  #leave() {
    this.#runs.shift();
    const rest = this.#hasEdge ? this.#resampler?.flush() : undefined;
    this.#resampler?.close();
    this.#resampler = undefined;
    return rest ?? new Float32Array(0);
  }
}

/** The turn was cleared, or its socket closed, before it was complete. */
export class TurnDroppedError extends Error {
  override readonly name = 'TurnDropped';

  constructor() {
    super('The turn was dropped before it was complete.');
  }
}
