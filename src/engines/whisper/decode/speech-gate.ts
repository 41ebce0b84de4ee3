/**
 * Whether anybody speaks in a window at all. Whisper writes "you", "Thank you." or worse into noise and music,
 * and its own probability of silence seldom tells; a detector of voice activity does.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { FRAME_SAMPLES } from '../../silero/shared/graph.ts';
import type { SileroModel } from '../../silero/worker/model.ts';

/**
 * A frame (32 ms) is speech from this probability on, and so many frames are a word. Of 320 utterances, half of
 * them at 10 dB of noise, each has three frames above 0.98; of 200 clips of noise, tones and chords 11 have three
 * above this.
 */
const SPEECH = 0.5;
const MIN_FRAMES = 3;

/** Peaks below it are raised to it: Whisper hears speech at any level, the detector does not. */
const AUDIBLE_PEAK = 0.05;
/** A peak below this, -80 dB of full scale, is silence, whatever a model makes of it. */
const SILENT_PEAK = 0.0001;

/** One window at a time. */
export class SpeechGate {
  readonly #model: SileroModel;

  constructor(model: SileroModel) {
    this.#model = model;
  }

  /**
   * When somebody begins to speak, in seconds; undefined when nobody does.
   * @param samples mono, 16 kHz.
   */
  async speechFromS(samples: Float32Samples): Promise<number | undefined> {
    let found = 0;
    let frame = 0;
    let firstFrame = 0;
    for await (const probability of this.#model.classifyClip(audible(samples))) {
      if (probability >= SPEECH) {
        if (found === 0) firstFrame = frame;
        found += 1;
        if (found >= MIN_FRAMES) return (firstFrame * FRAME_SAMPLES) / LISTEN_RATE_HZ;
      }
      frame += 1;
    }
    return undefined;
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}

function audible(samples: Float32Samples): Float32Samples {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak < SILENT_PEAK) return new Float32Array(0);
  return peak < AUDIBLE_PEAK ? samples.map((sample) => (sample * AUDIBLE_PEAK) / peak) : samples;
}
