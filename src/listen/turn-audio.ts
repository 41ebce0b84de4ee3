/** The audio of one turn, as a stream from the segmenter to the transcription engine. */

import { LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import type { AudioChunk } from '../contract/engines/engine.ts';
import { type AudioFormat, LISTEN_FORMAT } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import { SampleReader } from './sample-reader.ts';

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
  /** Readers of the unread audio, oldest first. Until the turn is complete, there is at most one. */
  #parts: SampleReader[] = [];
  #state: 'arriving' | 'complete' | 'dropped' | 'discarded' = 'arriving';
  #isPaused = false;
  #readSamples = 0;
  #hasReader = false;
  #pendingRead: PromiseWithResolvers<Result> | undefined;

  /** Creates a complete turn, for example from a recording. */
  static of(bytes: Uint8Array, format: AudioFormat): TurnAudio {
    const queue = new AudioQueue(format);
    queue.push(bytes);
    return TurnAudio.fromParts([new SampleReader(queue)]);
  }

  /** Creates a complete turn. It takes ownership of the readers. */
  static fromParts(parts: readonly SampleReader[]): TurnAudio {
    const audio = new TurnAudio();
    audio.end(parts);
    return audio;
  }

  /** Bytes of memory of the audio that is not read yet. */
  get unreadBytes(): number {
    return this.#parts.reduce((sum, { queue }) => sum + queue.bufferedBytes, 0);
  }

  /** Length of the received audio in seconds, read or not. Audio that was discarded unread is not counted. */
  get lengthS(): number {
    return this.#parts.reduce((sum, { lengthS }) => sum + lengthS, this.#readSamples / LISTEN_RATE_HZ);
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
   * Appends a range of a queue of samples that follows the previous range. Called only by the segmenter, like all
   * methods that change the audio.
   */
  add(samples: AudioQueue, fromSample: number, toSample: number): void {
    if (this.#state !== 'arriving') return;
    const [part = new SampleReader(new AudioQueue(LISTEN_FORMAT))] = this.#parts;
    this.#parts = [part];
    samples.copyTo(part.queue, fromSample, toSample);
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
   * @param rest readers of the rest of the audio, of which the turn takes ownership.
   */
  end(rest: readonly SampleReader[] = []): void {
    if (this.#state !== 'arriving') {
      for (const part of rest) part.close();
      return;
    }
    this.#state = 'complete';
    this.#parts.push(...rest);
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
    for (const part of this.#parts) part.close();
    this.#parts = [];
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
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      const { bufferedSamples } = part.queue;
      const isFew = bufferedSamples < LISTEN_RATE_HZ * MIN_CHUNK_S && !this.#isPaused;
      if (this.#state === 'arriving' && (bufferedSamples === 0 || isFew)) break;
      const isAllRead = bufferedSamples === 0;
      const samples = isAllRead ? part.finish() : part.read();
      if (isAllRead) this.#parts.shift();
      if (samples.length === 0) continue;
      this.#readSamples += samples.length;
      return { done: false, value: samples };
    }
    if (this.#state !== 'arriving') return DONE;
    if (!this.#isPaused) return undefined;
    this.#isPaused = false;
    return { done: false, value: 'pause' };
  }
}

/** The turn was cleared, or its connection closed, before it was complete. */
export class TurnDroppedError extends Error {
  override readonly name = 'TurnDroppedError';

  constructor() {
    super('The turn was dropped before it was complete.');
  }
}
