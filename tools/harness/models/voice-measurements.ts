import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../server/config.ts';
import { type Float32Samples, SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { SpeakerPrint, VoiceWork } from '../../../src/contract/engines/voice.ts';
import type { KokoroSpec } from '../../../src/engines/kokoro/settings.ts';
import { encodeVoice } from '../../../src/engines/speakers/host/voice-print.ts';
import type { SpeakersSpec } from '../../../src/engines/speakers/shared/spec.ts';
import { inferencePool } from '../../../src/inference/pool/inference-pool.ts';
import type { ModelVoice, SpeechRequest } from '../../../src/inference/pool/model.ts';
import { poolMeter } from '../../../src/inference/pool/pool-metrics.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { noMetrics, silentLog } from '../doubles/doubles.ts';
import { joined } from '../media/sample-runs.ts';

const SPEECH = 'kokoro';
const SPEAKERS = 'resemblyzer';
const WORK: VoiceWork = { priority: 'interactive', fairnessKey: 'measurements' };
const NO_SIGNAL = new AbortController().signal;

export interface VoiceMeasurements {
  /** Synthesizes a text with a voice and computes the speaker print of the speech. */
  measure(voice: ModelVoice, text: string): Promise<SpeakerPrint>;
  close(): Promise<void>;
}

/** Opens Kokoro and the speaker encoder in one process. */
export async function openVoiceMeasurements(): Promise<VoiceMeasurements> {
  const { modelsDir, inference } = loadConfig(process.env);
  const pool = inferencePool<KokoroSpec | SpeakersSpec>({
    entry: fileURLToPath(new URL('../../../src/engines/inference-worker.ts', import.meta.url)),
    models: {
      [SPEECH]: { kind: 'kokoro', modelsDir, voices: ['af_heart'] },
      [SPEAKERS]: { kind: 'resemblyzer', modelsDir },
    },
    settings: { ...inference, workers: 1 },
    clock: systemClock,
    log: silentLog,
    meter: poolMeter(noMetrics),
  });
  await pool.start();
  return {
    async measure(voice, text) {
      const request: SpeechRequest = { text, voice, speed: 1, delivery: 'whole' };
      const chunks: Float32Samples[] = [];
      const job = { request, ...WORK, delivery: 'whole' } as const;
      for await (const chunk of pool.runJob<SpeechRequest, Float32Samples>(SPEECH, job, NO_SIGNAL)) {
        chunks.push(chunk);
      }
      const speech = { samples: joined(chunks), rateHz: SPEECH_RATE_HZ };
      return await encodeVoice(pool, SPEAKERS, speech, WORK, NO_SIGNAL);
    },
    close: () => pool.close(),
  };
}
