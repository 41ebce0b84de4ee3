/** Resemblyzer as an engine. */

import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { SpeakerEncoder } from '../../../contract/engines/voice.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import { voicePrint } from './voice-print.ts';

/** @param model name in the pool, which outlives the engine. */
export function speakerEncoder(pool: InferencePool, model: string): SpeakerEncoder {
  return {
    encodeSpeaker: (samples, work, signal) =>
      voicePrint(pool, model, { samples, rateHz: LISTEN_RATE_HZ }, work, signal),
  };
}
