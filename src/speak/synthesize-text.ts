/** Text to speech as every feature wants it: 16-bit PCM, mono, 24 kHz, while it is being made. */

import { float32ToInt16 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import { splitSentences } from '../audio/sentences.ts';
import type { Clock } from '../contract/core/clock.ts';
import { type Float32Samples, type Int16Samples, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { PlaybackClock } from '../kit/playback.ts';

/** What to say and for whom; `text` may have any length. */
export type SynthesizeTextRequest = Omit<SynthesisRequest, 'aheadMs'>;

/**
 * Speaks a text sentence by sentence (spec 4.3, rules 1 and 2). Yields runs of samples at 24 kHz in order,
 * none of them empty; nothing at all when the text holds nothing that can be spoken. A sentence is begun
 * when the one before has been made and taken, so a consumer that stops pulling stops the work.
 * @param begins is told each sentence as it is begun, blank ones too: together they are the text.
 * @throws what the engine throws, and the signal's reason after an abort.
 */
export async function* synthesizeText(
  engine: TtsEngine,
  request: SynthesizeTextRequest,
  clock: Clock,
  signal: AbortSignal,
  begins?: (sentence: string) => void,
): AsyncGenerator<Int16Samples, void, undefined> {
  const playback = new PlaybackClock();
  const heard = (samples: Float32Samples): Int16Samples => {
    playback.addAudio((samples.length * 1000) / SPEECH_RATE_HZ, clock.monotonicMs());
    return float32ToInt16(samples);
  };
  const resampler =
    engine.rateHz === SPEECH_RATE_HZ
      ? undefined
      : new Resampler({ fromHz: engine.rateHz, toHz: SPEECH_RATE_HZ, format: 'float32' });
  try {
    for (const text of splitSentences(request.text)) {
      begins?.(text);
      if (text.trim() === '') continue;
      const sentence = { ...request, text, aheadMs: playback.aheadMs(clock.monotonicMs()) };
      for await (const made of engine.synthesize(sentence, signal)) {
        const samples = resampler ? resampler.push(made) : made;
        if (samples.length > 0) yield heard(samples);
      }
    }
    const rest = resampler?.flush();
    if (rest && rest.length > 0) yield heard(rest);
  } finally {
    resampler?.close();
  }
}
