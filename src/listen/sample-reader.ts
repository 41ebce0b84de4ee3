import { decodeToFloat32 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { samplesOf } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';

/** Maximum length of a chunk, in seconds. */
const MAX_CHUNK_S = 1;

/** Reads a queue as mono float samples at 16 kHz. Audio is decoded and freed as it is read. */
export class SampleReader {
  readonly queue: AudioQueue;
  /** Created by the first read. */
  #resampler: Resampler<'float32'> | undefined;
  /** Audio in the resampler, in seconds. */
  #heldS = 0;

  /** @param queue is changed by the reader. */
  constructor(queue: AudioQueue) {
    this.queue = queue;
  }

  /** Length of the unread audio in seconds. */
  get lengthS(): number {
    return this.queue.bufferedSamples / this.queue.format.rateHz + this.#heldS;
  }

  /** Returns the next samples, at most one second. Empty if the next sample depends on audio that has not arrived. */
  read(): Float32Samples {
    const { rateHz, encoding } = this.queue.format;
    const from = this.queue.startSample;
    const to = Math.min(this.queue.endSample, from + Math.floor(rateHz * MAX_CHUNK_S));
    const bytes = this.queue.bytes(from, to);
    this.queue.discardBefore(to);
    // Other readers have the same samples.
    if (encoding === 'float32') return samplesOf(bytes).slice();
    this.#resampler ??= new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
    const samples = this.#resampler.push(decodeToFloat32(bytes, encoding));
    this.#heldS += (to - from) / rateHz - samples.length / LISTEN_RATE_HZ;
    return samples;
  }

  /** Returns the last samples, after which silence is assumed. */
  finish(): Float32Samples {
    const rest = this.#resampler?.flush() ?? new Float32Array(0);
    this.close();
    return rest;
  }

  /** Moves the unread audio, except a partial sample, to another reader, which returns the same samples as this one would. */
  takeAudio(): SampleReader {
    const { queue } = this;
    const taken = new SampleReader(new AudioQueue(queue.format, queue.startSample));
    queue.copyTo(taken.queue, queue.startSample, queue.endSample);
    queue.discardBefore(queue.endSample);
    taken.#resampler = this.#resampler;
    taken.#heldS = this.#heldS;
    this.#resampler = undefined;
    this.#heldS = 0;
    return taken;
  }

  /** Frees the resampler. Idempotent. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
    this.#heldS = 0;
  }
}
