/**
 * Whether anybody speaks in a window at all. Whisper writes "you", "Thank you." or worse into noise and music,
 * and its own probability of silence seldom tells; a detector of voice activity does.
 */

import type { Float32Samples } from '../../contract/audio.ts';
import type { SileroModel } from '../silero/silero-model.ts';

/**
 * A frame (32 ms) is speech from this probability on, and so many frames are a word. Of 320 utterances, half of
 * them at 10 dB of noise, each has three frames above 0.98; of 200 clips of noise, tones and chords 11 have three
 * above this.
 */
const SPEECH = 0.5;
const LEAST_FRAMES = 3;

/** One window at a time. */
export class SpeechGate {
  readonly #model: SileroModel;

  constructor(model: SileroModel) {
    this.#model = model;
  }

  /** @param samples mono, 16 kHz. */
  async hearsSpeech(samples: Float32Samples): Promise<boolean> {
    let found = 0;
    for await (const probability of this.#model.clip(samples)) {
      if (probability >= SPEECH) found += 1;
      if (found >= LEAST_FRAMES) return true;
    }
    return false;
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}
