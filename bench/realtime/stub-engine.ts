/** A transcription engine with a fixed latency after the end of the audio and no CPU load, like a GPU. */

import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../src/contract/engines/engine.ts';

/** Time from the end of the audio to its transcript. */
export const STUB_MS = 80;
const TEXT = 'This is what a person may say.';

export const stubEngine: SttEngine = {
  languages: ['en'],
  hasPreviews: false,
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
