import { readFile } from 'node:fs/promises';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { AudioFileReader, OpenAudioFile } from '../../src/contract/engines/audio-file.ts';

/** Samples of one run of {@link FakeAudioFiles}. */
const RUN_SAMPLES = 1600;

/** Treats each pair of bytes of a file as a sample, in chunks of 100 ms; a file that starts with `x` is not audio. */
export class FakeAudioFiles implements AudioFileReader {
  readonly maxOpen = 4;
  readonly opened: string[] = [];
  /** Files that are being read. */
  reading = 0;
  /** Number of runs after which reading fails. */
  breaksAfter = Number.POSITIVE_INFINITY;

  async openFile(
    path: string,
    _rateHz: number | 'own',
    field: string,
    signal: AbortSignal,
  ): Promise<OpenAudioFile> {
    signal.throwIfAborted();
    const bytes = await readFile(path);
    this.opened.push(path);
    if (bytes[0] === 'x'.charCodeAt(0))
      throw invalidRequest(`'${field}' is not audio.`, field, 'invalid_value');
    return {
      info: { container: 'wav', codec: 'pcm', rateHz: 16_000, channels: 1 },
      rateHz: 16_000,
      declaredS: bytes.length / 2 / 16_000,
      samples: this.#samples(bytes, field, signal),
    };
  }

  async *#samples(bytes: Buffer, field: string, signal: AbortSignal) {
    this.reading += 1;
    try {
      for (let run = 0; run * RUN_SAMPLES * 2 < bytes.length; run += 1) {
        signal.throwIfAborted();
        if (run >= this.breaksAfter) throw invalidRequest(`'${field}' breaks off.`, field, 'invalid_value');
        yield new Float32Array(Math.min(RUN_SAMPLES, bytes.length / 2 - run * RUN_SAMPLES));
      }
    } finally {
      this.reading -= 1;
    }
  }

  async close() {}
}
