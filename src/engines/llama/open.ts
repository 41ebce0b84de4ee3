/**
 * Opens the language models. Models with the same weights share a process, with the largest of their slots and contexts. They load
 * concurrently; large models are loaded by their first request, and models whose files are not on disk in the background.
 */

import type { TextEngine } from '../../contract/engines/text.ts';
import { RetriedLoad, retriedTextEngine } from '../../inference/on-demand/retried-load.ts';
import type { SharedDownload } from '../../inference/on-demand/shared-download.ts';
import { SharedTextEngine } from '../../inference/on-demand/shared-engine.ts';
import { OnDemandTextEngine } from '../../inference/on-demand/text-engine.ts';
import type { EngineHost, OpenedEngines } from '../family.ts';
import { openLlama } from './host/engine.ts';
import { llamaWeights } from './host/weights.ts';
import { llamaWorkerMeter } from './host/worker-metrics.ts';
import type { LlamaModelSettings } from './settings.ts';
import { isLarge } from './shared/model-file.ts';

type LlamaModels = ReadonlyMap<string, LlamaModelSettings>;

/** The process of some weights, and their download. */
interface SharedWeights {
  readonly engine: SharedTextEngine;
  readonly download: SharedDownload;
}

export async function openLlamaModels(
  models: LlamaModels,
  host: EngineHost,
): Promise<OpenedEngines<TextEngine>> {
  const byWeights = sharedWeights(models, host);
  const opening = [...models].map(async ([id, settings]) => {
    const shared = byWeights.get(settings.weights);
    if (shared === undefined) throw new Error(`no process for '${settings.weights}'`);
    return [id, await openModel(id, settings, shared, host)] as const;
  });
  const settled = await Promise.allSettled(opening);
  const engines = new Map(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const shared = [...byWeights.values()].map(({ download }) => download);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed === undefined) return { engines, shared };
  for (const opened of [...engines.values(), ...shared]) await opened.close();
  throw failed.reason;
}

function sharedWeights(models: LlamaModels, host: EngineHost): ReadonlyMap<string, SharedWeights> {
  const { inference, modelsDir, hub, log, metrics, tracer } = host;
  // On a GPU they do not share the cores.
  const audioLoad = inference.provider === 'cpu' ? host.audioLoad : undefined;
  const byWeights = Map.groupBy(models, ([, { weights }]) => weights);
  return new Map(
    [...byWeights].map(([weights, users]) => {
      // Log lines and metrics of the process have the first id.
      const [id, settings] = users.reduce(([first, one], [, other]) => [first, largest(one, other)]);
      const meter = llamaWorkerMeter(id, metrics, tracer);
      const options = { settings, inference, modelsDir, log: log.child({ model: id }), meter, audioLoad };
      const engine = new SharedTextEngine(() => openLlama(options));
      return [weights, { engine, download: host.download(llamaWeights(weights, modelsDir, hub)) }];
    }),
  );
}

async function openModel(
  id: string,
  { weights, contextTokens, defaultMaxTokens }: LlamaModelSettings,
  { engine, download }: SharedWeights,
  { log, requiredModels, modelIdleMs: idleMs, modelRetryMs: retryMs }: EngineHost,
): Promise<TextEngine> {
  const open = () => engine.open(defaultMaxTokens);
  if (!requiredModels.has(id) && isLarge(weights)) {
    const modelLog = log.child({ model: id });
    return new OnDemandTextEngine({ model: id, contextTokens, download, open, idleMs, log: modelLog });
  }
  // A missing file of the operator is an error of the start.
  if (!download.isOnDisk() && !weights.startsWith('/')) {
    const load = new RetriedLoad({ model: id, download, load: open, log, retryMs });
    return retriedTextEngine(load, contextTokens);
  }
  log.info('loading a model', { model: id });
  const loaded = await open();
  log.info('loaded a model', { model: id });
  return loaded;
}

/** The settings of a process of two models: the largest of each. */
function largest(one: LlamaModelSettings, other: LlamaModelSettings): LlamaModelSettings {
  return {
    ...one,
    slots: Math.max(one.slots, other.slots),
    contextTokens: Math.max(one.contextTokens, other.contextTokens),
    defaultMaxTokens: Math.max(one.defaultMaxTokens, other.defaultMaxTokens),
  };
}
