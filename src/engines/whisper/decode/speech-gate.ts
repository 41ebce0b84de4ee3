/**
 * Detects whether a window contains speech. Whisper hallucinates text such as "Thank you." for noise and music, and its own
 * no-speech probability is not reliable; a voice activity detector is.
 */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { FRAME_SAMPLES } from '../../silero/shared/frame.ts';
import type { SileroModel } from '../../silero/worker/model.ts';

/**
 * Minimum probability of a frame (32 ms) of speech, and minimum number of such frames. Each of 320 utterances, half of them
 * with noise at 10 dB, has three frames above 0.98; of 200 clips of noise, tones and chords, 11 have three frames above
 * this threshold.
 */
const SPEECH = 0.5;
const MIN_FRAMES = 3;

/** Audio with a lower peak is amplified to this peak, because the detector misses quiet speech that Whisper transcribes. */
const AUDIBLE_PEAK = 0.05;
/** Audio with a peak below -80 dBFS is silence, regardless of the model. */
const SILENT_PEAK = 0.0001;

/** Speech detection for one window at a time. */
export class SpeechGate {
  readonly #model: SileroModel;

  constructor(model: SileroModel) {
    this.#model = model;
  }

  /**
   * Returns the start of speech in seconds; undefined when there is none.
   * @param samples mono, 16 kHz.
   */
  async speechStartS(samples: Float32Samples): Promise<number | undefined> {
    let speechFrames = 0;
    let frame = 0;
    let firstFrame = 0;
    for await (const probability of this.#model.classifyClip(audible(samples))) {
      if (probability >= SPEECH) {
        if (speechFrames === 0) firstFrame = frame;
        speechFrames += 1;
        if (speechFrames >= MIN_FRAMES) return (firstFrame * FRAME_SAMPLES) / LISTEN_RATE_HZ;
      }
      frame += 1;
    }
    return undefined;
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}

/** Amplifies quiet audio to {@link AUDIBLE_PEAK}. Returns no samples for silence. */
function audible(samples: Float32Samples): Float32Samples {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak < SILENT_PEAK) return new Float32Array(0);
  return peak < AUDIBLE_PEAK ? samples.map((sample) => (sample * AUDIBLE_PEAK) / peak) : samples;
}
