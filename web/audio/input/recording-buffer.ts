import type { Samples } from '../pcm.ts';
import { wavFile } from '../wav.ts';

/** Records microphone samples up to a maximum length. */
export class RecordingBuffer {
  readonly rateHz: number;
  readonly #maxSamples: number;
  readonly #chunks: Samples[] = [];
  #samples = 0;

  constructor(rateHz: number, maxSeconds: number) {
    this.rateHz = rateHz;
    this.#maxSamples = Math.floor(maxSeconds * rateHz);
  }

  get seconds(): number {
    return this.#samples / this.rateHz;
  }

  get isFull(): boolean {
    return this.#samples === this.#maxSamples;
  }

  /** Appends samples up to the maximum length. */
  add(samples: Samples): void {
    const taken = samples.slice(0, this.#maxSamples - this.#samples);
    this.#chunks.push(taken);
    this.#samples += taken.length;
  }

  /** The recording as a WAV file. */
  file(name: string): File {
    return new File([wavFile(this.#chunks, this.rateHz)], name, { type: 'audio/wav' });
  }

  /** User-facing advice about the level; undefined if it is good. */
  advice(): string | undefined {
    let [peak, cut] = [0, 0];
    for (const chunk of this.#chunks) {
      for (const sample of chunk) {
        const loudness = Math.abs(sample);
        peak = Math.max(peak, loudness);
        if (loudness >= FULL_SCALE) cut += 1;
      }
    }
    if (peak < QUIET)
      return 'The recording is very quiet. Move closer to the microphone or increase its level.';
    if (cut > this.#samples * CUT_SHARE) {
      return 'The recording is clipped. Move away from the microphone or lower its level.';
    }
    return undefined;
  }
}

const FULL_SCALE = 0x8000 * 0.985;
/** Peak of -40 dBFS. */
const QUIET = 0x8000 * 0.01;
const CUT_SHARE = 0.0005;
