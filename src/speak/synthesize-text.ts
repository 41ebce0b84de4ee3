/** Streaming text to speech: 16-bit mono PCM at 24 kHz. */

import { float32ToInt16 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { splitSentences } from '../audio/sentences.ts';
import type { Clock } from '../contract/core/clock.ts';
import { type Float32Samples, type Int16Samples, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { PlaybackClock } from '../kit/playback-clock.ts';

/** A synthesis request. `text` may have any length. */
export type SynthesizeTextRequest = Omit<SynthesisRequest, 'aheadMs'>;

/**
 * Synthesizes text sentence by sentence (spec 4.3, rules 1 and 2). Yields non-empty chunks of samples at 24
 * kHz in order; yields nothing if the text contains no speakable text. A sentence starts after the audio of
 * the previous one was consumed, so a consumer that stops pulling stops the synthesis.
 * @param onSentence called for each sentence as it starts, including blank ones. Together the sentences are
 *   the text.
 * @throws the errors of the engine, and the reason of the signal after an abort.
 */
export async function* synthesizeText(
  engine: TtsEngine,
  request: SynthesizeTextRequest,
  clock: Clock,
  signal: AbortSignal,
  onSentence?: (sentence: string) => void,
): AsyncGenerator<Int16Samples, void, undefined> {
  const playback = new PlaybackClock();
  const toPcm = (samples: Float32Samples): Int16Samples => {
    playback.addAudio((samples.length * 1000) / SPEECH_RATE_HZ, clock.monotonicMs());
    return float32ToInt16(samples);
  };
  const resampler =
    engine.rateHz === SPEECH_RATE_HZ
      ? undefined
      : new Resampler({ fromHz: engine.rateHz, toHz: SPEECH_RATE_HZ, format: 'float32' });
  try {
    for (const text of splitSentences(request.text)) {
      onSentence?.(text);
      if (text.trim() === '') continue;
      const sentence = { ...request, text, aheadMs: playback.aheadMs(clock.monotonicMs()) };
      for await (const chunk of engine.synthesize(sentence, signal)) {
        const samples = resampler ? resampler.push(chunk) : chunk;
        if (samples.length > 0) yield toPcm(samples);
      }
    }
    const rest = resampler?.flush();
    if (rest && rest.length > 0) yield toPcm(rest);
  } finally {
    resampler?.close();
  }
}
