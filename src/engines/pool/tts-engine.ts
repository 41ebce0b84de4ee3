/** A voice of an embedded model: text to speech in the shared pool. */

import { ServiceError } from '../../contract/core/error.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../contract/engines/spoken-voice.ts';
import { ownVoiceOnly } from '../../contract/voice-errors.ts';
import type { InferencePool } from './inference-pool.ts';
import type { PassVoice, SpeechDescription, SpeechRequest } from './model.ts';

/**
 * @param model name in the pool, which outlives the engine.
 * @param defaultVoice of requests that name none.
 */
export function poolTtsEngine(pool: InferencePool, model: string, defaultVoice: string): TtsEngine {
  const { rateHz, speaksAdaptations } = pool.description<SpeechDescription>(model);
  const lengthMs = (samples: Float32Samples) => (samples.length * 1000) / rateHz;
  const passVoice = (voice: SpokenVoice | undefined): PassVoice => {
    if (voice === undefined) return { kind: 'preset', name: defaultVoice };
    if (!speaksAdaptations) throw ownVoiceOnly();
    if (voice.adaptation === undefined) throw notPrepared();
    return { kind: 'adaptation', adaptation: voice.adaptation };
  };
  return {
    rateHz,
    async *synthesize(request, signal) {
      signal.throwIfAborted();
      const { text, speed, delivery, priority, owner, aheadMs } = request;
      const voice = passVoice(request.voice);
      yield* pool.run<SpeechRequest, Float32Samples>(
        model,
        { request: { text, voice, speed, delivery }, priority, owner, delivery, aheadMs, lengthMs },
        signal,
      );
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}

/** Its adaptation is of another version, or of a time at which no model needed one. */
function notPrepared(): ServiceError {
  return new ServiceError(
    'overloaded',
    'The voice is being prepared for this model. Send the request again.',
    {
      param: 'voice',
      retryAfterS: 5,
    },
  );
}
