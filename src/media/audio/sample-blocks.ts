import type { Float32Samples } from '../../contract/engines/audio.ts';

/** Collects chunks of samples of any length into blocks of equal length. */
export class SampleBlocks {
  readonly #length: number;
  #block: Float32Samples;
  #filled = 0;
  #taken = 0;

  /** @param length samples per block except the last, at least 1. */
  constructor(length: number) {
    this.#length = length;
    this.#block = new Float32Array(length);
  }

  /** Number of samples that were pushed. */
  get taken(): number {
    return this.#taken;
  }

  /** Appends samples and yields the completed blocks. The caller owns the blocks. */
  *push(samples: Float32Samples): Generator<Float32Samples> {
    this.#taken += samples.length;
    for (let at = 0; at < samples.length; ) {
      const taken = Math.min(samples.length - at, this.#length - this.#filled);
      this.#block.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < this.#length) return;
      const full = this.#block;
      this.#block = new Float32Array(this.#length);
      this.#filled = 0;
      yield full;
    }
  }

  /** The samples of the incomplete block, possibly none. */
  rest(): Float32Samples {
    return this.#block.slice(0, this.#filled);
  }
}
