/** A voice of an embedded model: text to speech in the shared pool. */

import type { Float32Samples } from '../contract/audio.ts';
import type { TtsEngine } from '../contract/engine.ts';
import type { SpeechDescription, SpeechRequest } from './pass-model.ts';
import type { InferencePool } from './worker-pool.ts';

/**
 * @param model name in the pool, which outlives the engine.
 * @param defaultVoice of requests that name none.
 */
export function poolTtsEngine(pool: InferencePool, model: string, defaultVoice: string): TtsEngine {
  const { rateHz } = pool.description<SpeechDescription>(model);
  const lengthMs = (samples: Float32Samples) => (samples.length * 1000) / rateHz;
  return {
    rateHz,
    synthesize(request, signal) {
      const { text, voice = defaultVoice, speed, delivery, priority, owner, aheadMs } = request;
      return pool.run<SpeechRequest, Float32Samples>(
        model,
        { request: { text, voice, speed, delivery }, priority, owner, delivery, aheadMs, lengthMs },
        signal,
      );
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}
