/** Opens the engines of Kokoro models that the pool has loaded. */

import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { VoiceFitter } from '../../contract/engines/voice.ts';
import type { SpeechRequest } from '../../inference/pool/model.ts';
import { poolTtsEngine } from '../../inference/pool/tts-engine.ts';
import { arithmeticFor } from '../../inference/runtime/cpu-arithmetic.ts';
import { type ServiceHandle, serviceHandle } from '../../kit/lifecycle/lazy-services.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { languageVoices } from './host/accents.ts';
import { kokoroLanguages } from './host/languages.ts';
import { kokoroVoices } from './host/named-voices.ts';
import { PresetStatistics } from './host/preset-statistics.ts';
import { kokoroFitter, NO_FITTER } from './host/voice-fitter.ts';
import { kokoroPool } from './pool.ts';
import type { KokoroModelSettings } from './settings.ts';
import { hasProfile } from './shared/profile-key.ts';
import { englishPresetNames } from './shared/voice-mix.ts';

export function openKokoro(
  models: ReadonlyMap<string, KokoroModelSettings>,
  { pooled }: EngineHost,
): OpenedEngines<TtsEngine> {
  const open = (model: KokoroModelSettings) => {
    const voices = model.voices === 'presets' ? kokoroVoices(model.voice) : undefined;
    return poolTtsEngine(pooled.pool, kokoroPool.name(model), model, kokoroLanguages(model.voice), voices);
  };
  return { engines: new Map([...models].map(([id, model]) => [id, open(model)])) };
}

/** Opens the fitter of stored voices. Without a Kokoro model in CONFIG, no voice needs an adaptation. */
export function openKokoroFitter(host: EngineHost): ServiceHandle<VoiceFitter> {
  const { modelsDir, log, inference, pooled } = host;
  const [first, ...others] = [...host.tables.speech.values()].filter(isKokoro);
  if (first === undefined) return serviceHandle(NO_FITTER);
  const model = kokoroPool.name(first);
  const spec = kokoroPool.spec([first, ...others], modelsDir);
  // One process, because each process holds a copy of the weights.
  const background = host.backgroundPool({ [model]: spec }, 1);
  const arithmetic = arithmeticFor(inference.provider);
  const statistics = new PresetStatistics({
    names: [...new Set([...englishPresetNames(), ...languageVoices()])],
    isMeasured: (name) => hasProfile(modelsDir, name, arithmetic),
    async measure(name, signal) {
      // The first use of a voice measures it.
      const request: SpeechRequest = {
        text: 'Hi.',
        voice: { kind: 'preset', name },
        speed: 1,
        delivery: 'whole',
      };
      // The work is not done for an API key.
      const job = { request, priority: 'batch', fairnessKey: '', delivery: 'whole' } as const;
      for await (const _ of (background ?? pooled.pool).runJob(model, job, signal));
    },
    log: log.child({ model }),
  });
  return {
    value: kokoroFitter,
    async close() {
      try {
        await statistics.close();
      } finally {
        await background?.close();
      }
    },
  };
}

function isKokoro(settings: { readonly kind: string }): settings is KokoroModelSettings {
  return settings.kind === 'kokoro';
}
