/** Opens the engines of Piper models that the pool has loaded, or that are loaded later. */

import type { TtsEngine } from '../../contract/engines/engine.ts';
import type { FastSpeech } from '../../contract/engines/fast-speech.ts';
import { OnDemandSpeech } from '../../inference/on-demand/fast-speech.ts';
import { openPooledEngine } from '../../inference/on-demand/pooled-engine.ts';
import { retriedTtsEngine } from '../../inference/on-demand/retried-load.ts';
import { catalogWeights } from '../../inference/on-demand/weights.ts';
import type { ServiceHandle } from '../../kit/lifecycle/lazy-services.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';
import { openPiperEngine, piperBeforeLoad } from './engine.ts';
import { piperPool } from './pool.ts';
import type { PiperModelSettings } from './settings.ts';

export function openPiper(
  models: ReadonlyMap<string, PiperModelSettings>,
  host: EngineHost,
): OpenedEngines<TtsEngine> {
  const open = (id: string, settings: PiperModelSettings): TtsEngine => {
    const name = piperPool.name(settings);
    return openPooledEngine(host, {
      model: id,
      name,
      open: () => openPiperEngine(host.pooled.pool, name, settings),
      openLater: (load) => retriedTtsEngine(load, piperBeforeLoad(settings)),
    });
  };
  return { engines: new Map([...models].map(([id, settings]) => [id, open(id, settings)])) };
}

/** Opens the voice of the catalog, which is downloaded and loaded when it is needed. */
export function openFastSpeech({
  pooled,
  modelsDir,
  hub,
  instrument,
  download,
}: EngineHost): ServiceHandle<FastSpeech> {
  const settings: PiperModelSettings = { kind: 'piper', voice: DEFAULT_PIPER_VOICE };
  const name = piperPool.name(settings);
  const speech = new OnDemandSpeech({
    download: download(catalogWeights([name], modelsDir, hub)),
    async load() {
      await pooled.loadOnDemand(name, () => piperPool.spec([settings], modelsDir));
      return instrument.tts(name, openPiperEngine(pooled.pool, name, settings));
    },
  });
  return {
    value: speech,
    async close() {
      pooled.forget(name);
      await speech.close();
    },
  };
}
