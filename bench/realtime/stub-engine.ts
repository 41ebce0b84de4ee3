/** A recogniser of known cost: it hears everything, then takes a fixed time without a processor, as a GPU would. */

import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../src/contract/engines/engine.ts';

/** From the end of the audio to its text. */
export const STUB_MS = 80;
const TEXT = 'This is what a person may say.';

export const stubEngine: SttEngine = {
  languages: ['en'],
  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    _request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    let samples = 0;
    for await (const piece of audio) {
      signal.throwIfAborted();
      if (piece !== 'pause') samples += piece.length;
    }
    await Bun.sleep(STUB_MS);
    signal.throwIfAborted();
    yield { kind: 'delta', text: TEXT };
    yield {
      kind: 'final',
      transcript: {
        text: TEXT,
        language: 'en',
        durationS: samples / LISTEN_RATE_HZ,
        inputTokens: { audio: 1, text: 0 },
        outputTokens: 8,
        segments: [],
        words: [],
      },
    };
  },
  ready: () => ({ ready: true }),
  close: async () => undefined,
};
