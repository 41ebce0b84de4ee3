/** From CONFIG's model ids to engines. All embedded models share one pool of inference processes, which holds those that are needed. */

import { fileURLToPath } from 'node:url';
import type { Clock } from '../contract/core/clock.ts';
import { StartError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import type {
  EmbedModels,
  InferenceSettings,
  SttModels,
  TextModels,
  TtsModels,
  VideoModels,
} from '../contract/core/settings.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { EmbedEngine } from '../contract/engines/embed.ts';
import type { SttEngine, TtsEngine } from '../contract/engines/engine.ts';
import type { TextEngine } from '../contract/engines/text.ts';
import type { VideoEngine } from '../contract/engines/video.ts';
import type { VoiceFitter } from '../contract/engines/voice.ts';
import type { ModelTable } from '../contract/model-table.ts';
import type { ServiceProvider, Slots } from '../contract/plugin.ts';
import { LazyServices, type ServiceHandle, serviceHandle } from '../kit/lifecycle/lazy-services.ts';
import { scopedMetrics } from '../kit/logging/scoped-metrics.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import { clipCutter } from '../media/clips/clip-cutter.ts';
import { clipReader } from '../media/clips/clip-reader.ts';
import { continuationEngine } from './continuation/host/engine.ts';
import { embeddedSpecs, poolModel } from './embedded-models.ts';
import { type EngineMetrics, engineMetrics } from './engine-metrics.ts';
import { kokoroFitter, NO_FITTER } from './kokoro/host/voice-fitter.ts';
import { englishPresetNames } from './kokoro/shared/voice-mix.ts';
import { openLlama } from './llama/host/engine.ts';
import { laneMeter } from './llama/host/worker-metrics.ts';
import { minilmEngine } from './minilm/host/engine.ts';
import { BackgroundPool } from './pool/background-pool.ts';
import { type InferencePool, type InferencePoolOptions, inferencePool } from './pool/inference-pool.ts';
import type { ModelSpec } from './pool/model-spec.ts';
import { poolMeter } from './pool/pool-metrics.ts';
import { poolTtsEngine } from './pool/tts-engine.ts';
import { openVad } from './silero/host/engine.ts';
import { speakerEncoder } from './speakers/host/engine.ts';
import { type UpstreamMeter, upstreamMeters } from './upstream/client/metrics.ts';
import { upstreamEmbedEngine } from './upstream/embeddings/engine.ts';
import { upstreamTtsEngine } from './upstream/speech/engine.ts';
import { upstreamTextEngine } from './upstream/text/engine.ts';
import { upstreamSttEngine } from './upstream/transcription/engine.ts';
import { upstreamVideoEngine } from './upstream/video/engine.ts';
import { whisperEngine } from './whisper/host/engine.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./inference-worker.ts', import.meta.url));
const NONE: ReadonlyMap<string, never> = new Map<string, never>();
/** Name in the pool of what tells speakers apart. */
const SPEAKERS = 'resemblyzer';

export interface EngineOptions {
  readonly ttsModels: TtsModels;
  readonly sttModels: SttModels;
  /** Absent: none. */
  readonly textModels?: TextModels;
  readonly embedModels?: EmbedModels;
  readonly videoModels?: VideoModels;
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
}

/**
 * Fills the slots of engines. Nothing is loaded but the models of slots that are needed, and what `provide` gives has
 * its models loaded; it throws a StartError that says what is missing: a model file, a voice, a library of the provider.
 */
export function engineProvider(options: EngineOptions): ServiceProvider {
  const { inference: settings, modelsDir, clock, log, metrics, ttsModels, sttModels } = options;
  const { tracer = noopTracer } = options;
  const { embedModels = NONE, videoModels = NONE, textModels = NONE } = options;
  const { environment } = settings;
  const poolParts = { entry: WORKER_ENTRY, settings, clock, log, meter: poolMeter(metrics, tracer) };
  const pool = inferencePool<ModelSpec>({ ...poolParts, models: {} });
  const meterOf = upstreamMeters(metrics, tracer);
  const watch = engineMetrics({ clock, metrics, tracer });
  const remote = (id: string) => ({ log: log.child({ model: id }), meter: meterOf(id) });
  const parts = new LazyServices({
    tts: () =>
      openTable(ttsModels, (id, model): TtsEngine => {
        const engine =
          model.kind === 'upstream'
            ? upstreamTtsEngine({ settings: model, ...remote(id) })
            : poolTtsEngine(pool, poolModel(model), model.voice);
        return watch.tts(id, engine);
      }),
    stt: () =>
      openTable(sttModels, (id, model): SttEngine => {
        const engine =
          model.kind === 'upstream'
            ? upstreamSttEngine({ settings: model, ...remote(id) })
            : whisperEngine(pool, poolModel(model));
        return watch.stt(id, engine);
      }),
    embed: () => {
      const { minilm } = poolSpecs(new Set(['embed']), options);
      // A GPU would have to hold the weights twice.
      const own =
        minilm && settings.provider === 'cpu'
          ? new BackgroundPool<ModelSpec>({ ...poolParts, models: { minilm } })
          : undefined;
      const table = openTable(embedModels, (id, model): EmbedEngine => {
        const engine =
          model.kind === 'upstream'
            ? upstreamEmbedEngine({ settings: model, ...remote(id) })
            : minilmEngine(pool, poolModel(model), settings, own ?? pool);
        return watch.embed(id, engine);
      });
      return closedWith(table, own);
    },
    speakers: () => serviceHandle(speakerEncoder(pool, SPEAKERS)),
    voiceFitter: () => openFitter(pool, poolParts, options),
    text: () => openTextTable(textModels, meterOf, watch, options),
    video: () => {
      const clips = clipReader({ environment });
      const cutter = clipCutter({ environment });
      const table = openTable(videoModels, (id, model): VideoEngine => {
        const engine =
          model.kind === 'continuation'
            ? continuationEngine({ environment, log: log.child({ model: id }) })
            : upstreamVideoEngine({ settings: model, clips, cutter, ...remote(id) });
        return watch.video(id, engine);
      });
      return closedWith(table, clips, cutter);
    },
    vad: async () => {
      const own = scopedMetrics(metrics);
      const vad = serviceHandle(await openVad({ modelsDir, environment, log, metrics: own }));
      return closedWith(vad, { close: async () => own.close() });
    },
  });
  return {
    slotNames: parts.slotNames,
    async provide(needs) {
      try {
        const specs = poolSpecs(needs, options);
        // Who has a model goes before the model does, and comes after it.
        await parts.closeExcept(needs);
        await pool.setModels(specs);
        return await parts.provide(needs);
      } catch (error) {
        throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
    async close() {
      try {
        await parts.close();
      } finally {
        await pool.close();
      }
    },
  };
}

/** What the pool holds for these slots. @throws Error for a voice or weights that do not exist, or a missing file. */
function poolSpecs(
  needs: ReadonlySet<keyof Slots>,
  { ttsModels, sttModels, embedModels = NONE, modelsDir }: EngineOptions,
): Readonly<Record<string, ModelSpec>> {
  // Voices are fitted to a model that speaks.
  const tts = needs.has('tts') || needs.has('voiceFitter') ? ttsModels : NONE;
  const stt = needs.has('stt') ? sttModels : NONE;
  const embed = needs.has('embed') ? embedModels : NONE;
  const hearsSpeakers = needs.has('speakers') || needs.has('voiceFitter');
  return {
    ...embeddedSpecs({ tts, stt, embed }, modelsDir),
    ...(hearsSpeakers && { [SPEAKERS]: { kind: SPEAKERS, modelsDir } }),
  };
}

/** What fits stored voices to Kokoro, where CONFIG has it. */
function openFitter(
  pool: InferencePool,
  poolParts: Omit<InferencePoolOptions<ModelSpec>, 'models'>,
  options: EngineOptions,
): ServiceHandle<VoiceFitter> {
  const { kokoro, [SPEAKERS]: speakers } = poolSpecs(new Set(['voiceFitter']), options);
  const settings = options.ttsModels.values().find(({ kind }) => kind === 'kokoro');
  if (!kokoro || !speakers || settings?.kind !== 'kokoro') return serviceHandle(NO_FITTER);
  // One process: a second would hold the weights once more. A GPU would have to hold them twice.
  const alone = { ...poolParts.settings, workers: 1 };
  const own =
    alone.provider === 'cpu'
      ? new BackgroundPool<ModelSpec>({
          ...poolParts,
          settings: alone,
          models: { kokoro, [SPEAKERS]: speakers },
        })
      : undefined;
  const names = { speech: poolModel(settings), speakers: SPEAKERS };
  const { modelsDir, clock, log } = options;
  const fitter = kokoroFitter({
    ...{ models: names, pool, backgroundPool: own ?? pool, defaultVoice: settings.voice, modelsDir },
    presets: englishPresetNames(),
    ...{ clock, log: log.child({ model: poolModel(settings) }) },
  });
  return closedWith(serviceHandle(fitter), own);
}

/** Language models, each with a process of its own, which load at once. */
async function openTextTable(
  models: TextModels,
  meterOf: (id: string) => UpstreamMeter,
  watch: EngineMetrics,
  { inference, modelsDir, log, metrics, tracer = noopTracer }: EngineOptions,
): Promise<ServiceHandle<ModelTable<TextEngine>>> {
  const opening = [...models].map(async ([id, settings]): Promise<[string, TextEngine]> => {
    const own = log.child({ model: id });
    const engine =
      settings.kind === 'upstream'
        ? upstreamTextEngine({ settings, log: own, meter: meterOf(id) })
        : await openLlama({
            settings,
            inference,
            modelsDir,
            log: own,
            meter: laneMeter(id, metrics, tracer),
          });
    return [id, watch.text(id, engine)];
  });
  const settled = await Promise.allSettled(opening);
  const engines = new Map(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const table = tableOf(engines);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed === undefined) return table;
  await table.close();
  throw failed.reason;
}

/** Opens an engine for each model. */
function openTable<Settings, Engine extends TtsEngine | SttEngine | EmbedEngine | VideoEngine>(
  models: ReadonlyMap<string, Settings>,
  open: (id: string, settings: Settings) => Engine,
): ServiceHandle<ModelTable<Engine>> {
  return tableOf(new Map([...models].map(([id, settings]) => [id, open(id, settings)])));
}

/** Engines as a slot, which closes them. */
function tableOf<Engine extends { close(): Promise<void> }>(
  engines: ReadonlyMap<string, Engine>,
): ServiceHandle<ModelTable<Engine>> {
  const table = { ids: [...engines.keys()], get: (id: string) => engines.get(id) };
  return closedWith(serviceHandle(table), ...engines.values());
}

/** A part that goes before what it stands on. */
function closedWith<Value>(
  { value, close }: ServiceHandle<Value>,
  ...others: readonly ({ close(): Promise<void> } | undefined)[]
): ServiceHandle<Value> {
  return {
    value,
    async close() {
      const closing = new AsyncDisposableStack();
      for (const other of others) closing.defer(async () => other?.close());
      closing.defer(close);
      await closing.disposeAsync();
    },
  };
}
