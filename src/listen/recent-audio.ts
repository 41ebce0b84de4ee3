/** Recent audio of a stream, for decisions about a turn that is still arriving. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { LISTEN_FORMAT, samplesOf } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';

/** Keeps the end of a queue of samples. */
export class RecentAudio {
  readonly #maxSamples: number;
  #source: AudioQueue | undefined;
  #audio = new AudioQueue(LISTEN_FORMAT);

  /** @param maxS maximum length of the retained audio, in seconds. */
  constructor(maxS: number) {
    this.#maxSamples = maxS * LISTEN_RATE_HZ;
  }

  /** Adds a range that follows the previous one. A range of another queue replaces the audio. */
  add(source: AudioQueue, fromSample: number, toSample: number): void {
    if (this.#source !== source || this.#audio.endSample !== fromSample) {
      this.#audio = new AudioQueue(LISTEN_FORMAT, fromSample);
    }
    this.#source = source;
    source.copyTo(this.#audio, fromSample, toSample);
    this.#audio.discardBefore(toSample - this.#maxSamples);
  }

  /** Returns a copy of the retained part of a range, mono at 16 kHz. */
  samples(fromSample: number, toSample: number): Float32Samples {
    const from = Math.max(fromSample, this.#audio.startSample);
    const to = Math.max(from, Math.min(toSample, this.#audio.endSample));
    return samplesOf(this.#audio.bytes(from, to)).slice();
  }
}
