/** Opens the engines of Whisper models that the pool has loaded, or that are loaded later. */

import type { SttEngine } from '../../contract/engines/engine.ts';
import { openPooledEngine } from '../../inference/on-demand/pooled-engine.ts';
import { retriedSttEngine } from '../../inference/on-demand/retried-load.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { whisperEngine } from './host/engine.ts';
import { whisperPool } from './pool.ts';
import type { WhisperModelSettings } from './settings.ts';

export function openWhisper(
  models: ReadonlyMap<string, WhisperModelSettings>,
  host: EngineHost,
): OpenedEngines<SttEngine> {
  const open = (id: string, settings: WhisperModelSettings): SttEngine => {
    const name = whisperPool.name(settings);
    const options = { model: id, name, open: () => whisperEngine(host.pooled.pool, name) };
    return openPooledEngine(host, { ...options, openLater: retriedSttEngine });
  };
  return { engines: new Map([...models].map(([id, settings]) => [id, open(id, settings)])) };
}
