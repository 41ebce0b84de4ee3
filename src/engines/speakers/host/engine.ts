/** The Resemblyzer speaker encoder as an engine. */

import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { SpeakerEncoder } from '../../../contract/engines/voice.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import { encodeVoice } from './voice-print.ts';

/** @param pool is not closed by the engine. @param model name of the model in the pool. */
export function speakerEncoder(pool: InferencePool, model: string): SpeakerEncoder {
  return {
    encodeSpeaker: (samples, work, signal) =>
      encodeVoice(pool, model, { samples, rateHz: LISTEN_RATE_HZ }, work, signal),
  };
}
