/** Turns what the microphone gives into blocks of 16-bit mono samples, off the page's own thread. */
registerProcessor(
  'microphone',
  class extends AudioWorkletProcessor {
    /** Samples of a block: 80 ms. */
    length = Math.round(sampleRate * 0.08);
    block = new Int16Array(this.length);
    filled = 0;

    process([channels]) {
      const [samples] = channels;
      if (samples === undefined) return true;
      for (const sample of samples) {
        this.block[this.filled] = Math.max(-1, Math.min(1, sample)) * 0x7fff;
        this.filled += 1;
        if (this.filled === this.length) {
          this.port.postMessage(this.block, [this.block.buffer]);
          this.block = new Int16Array(this.length);
          this.filled = 0;
        }
      }
      return true;
    }
  },
);
