import { ServiceError } from '../../src/contract/core/error.ts';
import type { AudioEncoder, AudioEncoding, EncodedFormat } from '../../src/contract/engines/audio-encoder.ts';

export interface FakeEncoderOptions {
  /** The error of the chunk of that index; the end of the file is the chunk after the last one. */
  readonly failure?: (chunk: number) => Error | undefined;
  /** Number of chunks without output. */
  readonly delayChunks?: number;
}

/** Encodes samples as their format's name, the samples, and `end`. */
export class FakeAudioEncoder implements AudioEncoder {
  readonly maxOpen = 4;
  /** Formats of the encodings, in the order in which they were opened. */
  readonly opened: EncodedFormat[] = [];
  openCount = 0;
  readonly #options: FakeEncoderOptions;

  constructor(options: FakeEncoderOptions = {}) {
    this.#options = options;
  }

  open(format: EncodedFormat): AudioEncoding {
    if (this.openCount === this.maxOpen) {
      throw new ServiceError('overloaded', 'Too many encodings.', { code: 'server_overloaded' });
    }
    this.opened.push(format);
    this.openCount += 1;
    const { failure, delayChunks = 0 } = this.#options;
    let held = Buffer.from(format);
    let chunks = 0;
    let closed = false;
    const encode = async (bytes: Uint8Array) => {
      const error = failure?.(chunks);
      if (error !== undefined) throw error;
      held = Buffer.concat([held, bytes]);
      chunks += 1;
      if (chunks <= delayChunks) return new Uint8Array();
      const complete = Uint8Array.from(held);
      held = Buffer.alloc(0);
      return complete;
    };
    return {
      encode,
      finish: () => encode(Buffer.from('end')),
      close: () => {
        if (!closed) this.openCount -= 1;
        closed = true;
      },
    };
  }

  async close() {}
}
