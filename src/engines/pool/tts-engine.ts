/** Text-to-speech engine for one voice of an embedded model in the shared pool. */

import { ServiceError } from '../../contract/core/error.ts';
import type { EmbeddedTtsSettings } from '../../contract/core/settings.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine } from '../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../contract/engines/spoken-voice.ts';
import { storedVoicesUnsupported } from '../../contract/voice-errors.ts';
import type { InferencePool } from './inference-pool.ts';
import type { ModelVoice, SpeechDescription, SpeechRequest, SpeechResult } from './model.ts';

/**
 * @param pool is not closed by the engine.
 * @param model name of the model in the pool.
 */
export function poolTtsEngine(
  pool: InferencePool,
  model: string,
  { voice: defaultVoice, compatibility }: EmbeddedTtsSettings,
): TtsEngine {
  const { rateHz, supportsAdaptations } = pool.description<SpeechDescription>(model);
  const lengthMs = (result: SpeechResult) => (isSamples(result) ? (result.length * 1000) / rateHz : 0);
  const modelVoice = (voice: SpokenVoice | undefined): ModelVoice => {
    if (voice === undefined) return { kind: 'preset', name: defaultVoice };
    if (!supportsAdaptations) throw storedVoicesUnsupported();
    if (voice.adaptation === undefined) throw notPrepared();
    return { kind: 'adaptation', adaptation: voice.adaptation };
  };
  return {
    rateHz,
    compatibility,
    synthesize(request, signal) {
      const { text, speed, delivery, firstAudioMs, priority, fairnessKey, aheadMs, onWords } = request;
      const voice = modelVoice(request.voice);
      const words = onWords !== undefined;
      const results = pool.runJob<SpeechRequest, SpeechResult>(
        model,
        {
          request: {
            ...{ text, voice, speed, delivery, words },
            ...(firstAudioMs !== undefined && aheadMs === undefined && { firstAudioMs }),
          },
          priority,
          fairnessKey,
          delivery,
          aheadMs,
          lengthMs,
        },
        signal,
      );
      return samplesOf(results, onWords);
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

function isSamples(result: SpeechResult): result is Float32Samples {
  return result instanceof Float32Array;
}

async function* samplesOf(
  results: AsyncIterable<SpeechResult>,
  onWords: SynthesisRequest['onWords'],
): AsyncGenerator<Float32Samples, void, undefined> {
  for await (const result of results) {
    if (isSamples(result)) yield result;
    else onWords?.(result);
  }
}

/** The stored voice has no adaptation for this version of the model yet. */
function notPrepared(): ServiceError {
  return new ServiceError('overloaded', 'The voice is being prepared for this model. Retry the request.', {
    param: 'voice',
    retryAfterS: 5,
  });
}
