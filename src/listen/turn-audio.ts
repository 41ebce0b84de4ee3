/** The audio of one turn, as a stream from the segmenter to the transcription engine. */

import { decodeToFloat32 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { AudioChunk } from '../contract/engines/engine.ts';
import type { AudioFormat } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';

/** Maximum length of a chunk, in seconds. */
const MAX_CHUNK_S = 1;
/** Minimum length of a chunk while audio arrives, in seconds. */
const MIN_CHUNK_S = 0.25;

type Result = IteratorResult<AudioChunk, undefined>;
const DONE: Result = { done: true, value: undefined };

/**
 * The audio of one turn as a single-use async iterable: mono float samples at 16 kHz, in chunks of at most
 * one second. The turn may still be growing. A `pause` item means that the audio so far may be complete.
 * Audio is freed as it is read. The samples depend only on the audio, not on how it arrived or when it was
 * read.
 */
export class TurnAudio implements AsyncIterable<AudioChunk> {
  /** Unread audio, oldest first, one queue per format. */
  #queues: AudioQueue[] = [];
  #state: 'arriving' | 'complete' | 'dropped' | 'discarded' = 'arriving';
  /** Whether the resampler is flushed at the end, which assumes that silence follows. */
  #flushesAtEnd = true;
  #isPaused = false;
  #readSamples = 0;
  /** Resampler of the first queue, created by its first read. */
  #resampler: Resampler<'float32'> | undefined;
  #hasReader = false;
  #pendingRead: PromiseWithResolvers<Result> | undefined;

  /** Creates a complete turn, for example from a recording. */
  static of(bytes: Uint8Array, format: AudioFormat): TurnAudio {
    const queue = new AudioQueue(format);
    queue.push(bytes);
    return TurnAudio.fromQueues([queue]);
  }

  /** Creates a complete turn from queues. The turn takes ownership of them. */
  static fromQueues(queues: AudioQueue[]): TurnAudio {
    const audio = new TurnAudio();
    audio.#queues = queues;
    audio.#state = 'complete';
    return audio;
  }

  /** Encoded bytes that are not read yet. */
  get unreadBytes(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.bufferedBytes, 0);
  }

  /** Length of the received audio in seconds, read or not. Audio that was discarded unread is not counted. */
  get lengthS(): number {
    const heldS = this.#queues.reduce((sum, queue) => sum + queue.bufferedSamples / queue.format.rateHz, 0);
    return this.#readSamples / LISTEN_RATE_HZ + heldS;
  }

  /** Whether the turn was cancelled before it was complete. */
  get isDropped(): boolean {
    return this.#state === 'dropped';
  }

  /** Number of samples at 16 kHz that the reader has received. */
  get readSamples(): number {
    return this.#readSamples;
  }

  /**
   * Appends a range of a queue that follows the previous range. Called only by the segmenter, like all
   * methods that change the audio.
   */
  add(queue: AudioQueue, fromSample: number, toSample: number): void {
    if (this.#state !== 'arriving') return;
    let last = this.#queues.at(-1);
    if (!last) {
      last = new AudioQueue(queue.format, fromSample);
      this.#queues.push(last);
    }
    queue.copyTo(last, fromSample, toSample);
    this.#isPaused = false;
    this.#wake();
  }

  /** Marks the audio so far as possibly complete. The next {@link add} reverts this. */
  pause(): void {
    this.#isPaused = true;
    this.#wake();
  }

  /**
   * Marks the audio as complete.
   * @param edge `silence` if nothing follows; `open` omits the last {@link Resampler.latencySamples} samples,
   *   because they depend on the audio that follows.
   */
  end(edge: 'silence' | 'open'): void {
    if (this.#state !== 'arriving') return;
    this.#state = 'complete';
    this.#flushesAtEnd = edge === 'silence';
    this.#wake();
  }

  /** Cancels the turn: the reader throws {@link TurnDroppedError}. */
  drop(): void {
    if (this.#state !== 'arriving') return;
    this.#free('dropped');
    this.#pendingRead?.reject(new TurnDroppedError());
    this.#pendingRead = undefined;
  }

  /**
   * Frees the unread audio and ignores further audio. Called when nothing reads the turn any more. Idempotent.
   */
  discard(): void {
    if (this.#state === 'dropped') return;
    this.#free('discarded');
    this.#pendingRead?.resolve(DONE);
    this.#pendingRead = undefined;
  }

  #free(state: 'dropped' | 'discarded'): void {
    this.#state = state;
    this.#queues = [];
    this.#resampler?.close();
    this.#resampler = undefined;
  }

  /**
   * Supports one reader. `return()` frees the audio and immediately ends a pending `next()`.
   * @throws Error for a second reader. The reader throws {@link TurnDroppedError}.
   */
  [Symbol.asyncIterator](): AsyncIterator<AudioChunk, undefined> {
    if (this.#hasReader) throw new Error('The audio of a turn can be read only once.');
    this.#hasReader = true;
    return {
      next: async () => this.#next(),
      return: async () => {
        this.discard();
        return DONE;
      },
    };
  }

  #next(): Result | Promise<Result> {
    if (this.#pendingRead) throw new Error('The audio of a turn is read piece by piece.');
    const result = this.#readNext();
    if (result) return result;
    this.#pendingRead = Promise.withResolvers<Result>();
    return this.#pendingRead.promise;
  }

  #wake(): void {
    const pendingRead = this.#pendingRead;
    const result = pendingRead && this.#readNext();
    if (!result) return;
    this.#pendingRead = undefined;
    pendingRead.resolve(result);
  }

  /** Returns the next item, or undefined if none is available yet. */
  #readNext(): Result | undefined {
    if (this.#state === 'dropped') throw new TurnDroppedError();
    for (let queue = this.#queues[0]; queue; queue = this.#queues[0]) {
      const mayGrow = this.#state === 'arriving' && this.#queues.length === 1;
      const { rateHz } = queue.format;
      const isFew = queue.bufferedSamples < rateHz * MIN_CHUNK_S && !this.#isPaused;
      if (mayGrow && (queue.bufferedSamples === 0 || isFew)) break;
      const samples = queue.bufferedSamples > 0 ? this.#read(queue) : this.#finishQueue();
      if (samples.length === 0) continue;
      this.#readSamples += samples.length;
      return { done: false, value: samples };
    }
    if (this.#state !== 'arriving') return DONE;
    if (!this.#isPaused) return undefined;
    this.#isPaused = false;
    return { done: false, value: 'pause' };
  }

  #read(queue: AudioQueue) {
    const { rateHz, encoding } = queue.format;
    const from = queue.startSample;
    const to = Math.min(queue.endSample, from + Math.floor(rateHz * MAX_CHUNK_S));
    const samples = decodeToFloat32(queue.bytes(from, to), encoding);
    queue.discardBefore(to);
    this.#resampler ??= new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
    return this.#resampler.push(samples);
  }

  /** Removes the first queue after all its audio was read. */
  #finishQueue() {
    this.#queues.shift();
    const rest = this.#flushesAtEnd ? this.#resampler?.flush() : undefined;
    this.#resampler?.close();
    this.#resampler = undefined;
    return rest ?? new Float32Array(0);
  }
}

/** The turn was cleared, or its connection closed, before it was complete. */
export class TurnDroppedError extends Error {
  override readonly name = 'TurnDroppedError';

  constructor() {
    super('The turn was dropped before it was complete.');
  }
}
