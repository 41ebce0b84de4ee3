/** Recent audio of a stream, for decisions about a turn that is still arriving. */

import { decodeToFloat32 } from '../audio/codec.ts';
import { resample } from '../audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { AudioQueue } from './audio-queue.ts';

/** Maximum length of the retained audio, in seconds. */
export const RECENT_AUDIO_S = 10;

/** Keeps the last {@link RECENT_AUDIO_S} of an audio queue, encoded as received. */
export class RecentAudio {
  #audio: AudioQueue | undefined;

  /** Adds a range that follows the previous one. A range of another queue replaces the audio. */
  add(queue: AudioQueue, fromSample: number, toSample: number): void {
    if (this.#audio?.format !== queue.format || this.#audio.endSample !== fromSample) {
      this.#audio = new AudioQueue(queue.format, fromSample);
    }
    queue.copyTo(this.#audio, fromSample, toSample);
    this.#audio.discardBefore(toSample - RECENT_AUDIO_S * queue.format.rateHz);
  }

  /** Returns the retained part of a range, mono at 16 kHz. */
  samples(fromSample: number, toSample: number): Float32Samples {
    const audio = this.#audio;
    const from = Math.max(fromSample, audio?.startSample ?? 0);
    const to = Math.min(toSample, audio?.endSample ?? 0);
    if (audio === undefined || from >= to) return new Float32Array(0);
    const { encoding, rateHz } = audio.format;
    return resample(decodeToFloat32(audio.bytes(from, to), encoding), rateHz, LISTEN_RATE_HZ);
  }
}
