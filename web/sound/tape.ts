import type { Samples } from './pcm.ts';
import { wavFile } from './wav.ts';

/** What a microphone gave, up to a length. */
export class Tape {
  readonly rateHz: number;
  readonly #maxSamples: number;
  readonly #pieces: Samples[] = [];
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

  /** Takes as much as there is room for. */
  add(samples: Samples): void {
    const taken = samples.slice(0, this.#maxSamples - this.#samples);
    this.#pieces.push(taken);
    this.#samples += taken.length;
  }

  /** As a WAV file. */
  file(name: string): File {
    return new File([wavFile(this.#pieces, this.rateHz)], name, { type: 'audio/wav' });
  }

  /** What is wrong with the recording, for the person; undefined when nothing is. */
  advice(): string | undefined {
    let [peak, cut] = [0, 0];
    for (const piece of this.#pieces) {
      for (const sample of piece) {
        const loudness = Math.abs(sample);
        peak = Math.max(peak, loudness);
        if (loudness >= FULL_SCALE) cut += 1;
      }
    }
    if (peak < QUIET) return 'This is very quiet. Go nearer to the microphone, or turn it up.';
    if (cut > this.#samples * CUT_SHARE) {
      return 'This is cut off where it is loud. Go further from the microphone, or turn it down.';
    }
    return undefined;
  }
}

const FULL_SCALE = 0x8000 * 0.985;
/** -40 dB at the loudest. */
const QUIET = 0x8000 * 0.01;
const CUT_SHARE = 0.0005;
