/** Audio worklet, off the main thread: converts microphone input to blocks of 16-bit mono samples. */

/** Globals of AudioWorkletGlobalScope, which lib.dom does not declare. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const BLOCK_SAMPLES = Math.round(sampleRate * 0.08);

class MicrophoneProcessor extends AudioWorkletProcessor {
  #block = new Int16Array(BLOCK_SAMPLES);
  #filled = 0;

  process([channels = []]: Float32Array[][]): boolean {
    const [samples] = channels;
    if (samples === undefined) return true;
    for (const sample of samples) {
      this.#block[this.#filled] = Math.max(-1, Math.min(1, sample)) * 0x7fff;
      this.#filled += 1;
      if (this.#filled < BLOCK_SAMPLES) continue;
      this.port.postMessage(this.#block, [this.#block.buffer]);
      this.#block = new Int16Array(BLOCK_SAMPLES);
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor('microphone', MicrophoneProcessor);
