import type { EmbedEngine } from '../../contract/engines/embed.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { minilmEngine } from './host/engine.ts';
import { minilmPool } from './pool.ts';
import type { MinilmModelSettings } from './settings.ts';

/** Opens the engines of models that the pool has loaded. Batches run in a background process. */
export function openMinilm(
  models: ReadonlyMap<string, MinilmModelSettings>,
  { pooled: { pool }, inference, modelsDir, backgroundPool }: EngineHost,
): OpenedEngines<EmbedEngine> {
  const [first] = models.values();
  if (first === undefined) return { engines: new Map() };
  const name = minilmPool.name(first);
  const background = backgroundPool({ [name]: minilmPool.spec([first], modelsDir) });
  const open = ({ tokenIds }: MinilmModelSettings) =>
    minilmEngine(pool, name, { ...inference, tokenIds }, background ?? pool);
  return {
    engines: new Map([...models].map(([id, settings]) => [id, open(settings)])),
    shared: background && [background],
  };
}
