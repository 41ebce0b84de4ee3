import type { Float32Samples } from '../../contract/engines/audio.ts';

/** Gathers runs of samples of any length into blocks of one length. */
export class SampleBlocks {
  readonly #length: number;
  #block: Float32Samples;
  #filled = 0;
  #taken = 0;

  /** @param length samples of every block but the last, at least 1. */
  constructor(length: number) {
    this.#length = length;
    this.#block = new Float32Array(length);
  }

  /** Samples that were pushed so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes samples and gives the blocks that they complete. A block belongs to the caller. */
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

  /** The samples that filled no block, maybe none. */
  rest(): Float32Samples {
    return this.#block.slice(0, this.#filled);
  }
}
