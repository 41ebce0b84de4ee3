/** Text-to-speech engine for one voice of an embedded model in the shared pool. */

import { ServiceError } from '../../contract/core/error.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../contract/engines/spoken-voice.ts';
import { storedVoicesUnsupported } from '../../contract/voice-errors.ts';
import type { InferencePool } from './inference-pool.ts';
import type { ModelVoice, SpeechDescription, SpeechRequest } from './model.ts';

/**
 * @param pool is not closed by the engine.
 * @param model name of the model in the pool.
 * @param defaultVoice preset for requests without a voice.
 */
export function poolTtsEngine(pool: InferencePool, model: string, defaultVoice: string): TtsEngine {
  const { rateHz, supportsAdaptations } = pool.description<SpeechDescription>(model);
  const lengthMs = (samples: Float32Samples) => (samples.length * 1000) / rateHz;
  const modelVoice = (voice: SpokenVoice | undefined): ModelVoice => {
    if (voice === undefined) return { kind: 'preset', name: defaultVoice };
    if (!supportsAdaptations) throw storedVoicesUnsupported();
    if (voice.adaptation === undefined) throw notPrepared();
    return { kind: 'adaptation', adaptation: voice.adaptation };
  };
  return {
    rateHz,
    synthesize(request, signal) {
      const { text, speed, delivery, priority, fairnessKey, aheadMs } = request;
      const voice = modelVoice(request.voice);
      return pool.runJob<SpeechRequest, Float32Samples>(
        model,
        { request: { text, voice, speed, delivery }, priority, fairnessKey, delivery, aheadMs, lengthMs },
        signal,
      );
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

/** The stored voice has no adaptation for this version of the model yet. */
function notPrepared(): ServiceError {
  return new ServiceError('overloaded', 'The voice is being prepared for this model. Retry the request.', {
    param: 'voice',
    retryAfterS: 5,
  });
}
