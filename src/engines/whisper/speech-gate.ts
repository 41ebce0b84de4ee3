/**
 * Whether anybody speaks in a window at all. Whisper writes "you", "Thank you." or worse into noise and music,
 * and its own probability of silence seldom tells; a detector of voice activity does.
 */

import type { Float32Samples } from '../../contract/audio.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from '../silero/silero-graph.ts';
import type { SileroModel } from '../silero/silero-model.ts';
import { BATCH_ROW_SAMPLES } from '../silero/silero-protocol.ts';

/**
 * A frame (32 ms) is speech from this probability on, and so many frames are a word. Of 320 utterances, half of
 * them at 10 dB of noise, each has three frames above 0.98; of 200 clips of noise, tones and chords 11 have three
 * above this.
 */
const SPEECH = 0.5;
const LEAST_FRAMES = 3;
/** Frames that are judged before it is asked whether they were enough: speech is mostly found in the first ones. */
const FRAMES_AT_ONCE = 8;

/** One window at a time. */
export class SpeechGate {
  readonly #model: SileroModel;
  #stream = 0;

  constructor(model: SileroModel) {
    this.#model = model;
  }

  /** @param samples mono, 16 kHz. */
  async hearsSpeech(samples: Float32Samples): Promise<boolean> {
    this.#stream += 1;
    let found = 0;
    try {
      const count = Math.ceil(samples.length / FRAME_SAMPLES);
      for (let first = 0; first < count && found < LEAST_FRAMES; first += FRAMES_AT_ONCE) {
        const batch = this.#batch(samples, first, Math.min(FRAMES_AT_ONCE, count - first));
        for (const probability of await this.#model.judge(batch)) if (probability >= SPEECH) found += 1;
      }
    } finally {
      this.#model.forget([this.#stream]);
    }
    return found >= LEAST_FRAMES;
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  /** Frames with the samples before them; beyond both ends is silence. */
  #batch(samples: Float32Samples, first: number, count: number) {
    const audio = new Float32Array(count * BATCH_ROW_SAMPLES);
    for (let i = 0; i < count; i++) {
      const frame = (first + i) * FRAME_SAMPLES;
      const before = Math.max(0, frame - CONTEXT_SAMPLES);
      const row = samples.subarray(before, frame + FRAME_SAMPLES);
      audio.set(row, i * BATCH_ROW_SAMPLES + CONTEXT_SAMPLES - (frame - before));
    }
    return { streams: new Uint32Array(count).fill(this.#stream), audio };
  }
}
