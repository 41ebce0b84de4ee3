/** Opens the engines for the model ids of CONFIG. All embedded models share one pool of inference processes. */

import { fileURLToPath } from 'node:url';
import { DEFAULT_HUB_ENDPOINT, type HubSettings } from '../../models/hub-reference.ts';
import type { Clock } from '../contract/core/clock.ts';
import { StartError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import type {
  EmbeddedTextSettings,
  EmbeddedTtsSettings,
  EmbedModels,
  InferenceSettings,
  SttModelSettings,
  SttModels,
  TextModels,
  TtsModelSettings,
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
import { AudioLoad, type AudioLoadLevel } from './audio-load.ts';
import { continuationEngine } from './continuation/host/engine.ts';
import { embeddedSpecs, outsideCatalog, piperHubFiles, poolModel } from './embedded-models.ts';
import { type EngineMetrics, engineMetrics } from './engine-metrics.ts';
import { kokoroLanguages } from './kokoro/host/languages.ts';
import { kokoroVoices } from './kokoro/host/named-voices.ts';
import { PresetStatistics } from './kokoro/host/preset-statistics.ts';
import { kokoroFitter, NO_FITTER } from './kokoro/host/voice-fitter.ts';
import { hasProfile } from './kokoro/shared/profile-key.ts';
import { englishPresetNames } from './kokoro/shared/voice-mix.ts';
import { languageTable } from './language-table.ts';
import { openLlama } from './llama/host/engine.ts';
import { llamaWorkerMeter } from './llama/host/worker-metrics.ts';
import { minilmEngine } from './minilm/host/engine.ts';
import { OnDemandSpeech } from './on-demand/fast-speech.ts';
import { catalogWeights, hubWeights, isLarge, llamaWeights } from './on-demand/llama-weights.ts';
import {
  RetriedLoad,
  retriedSttEngine,
  retriedTextEngine,
  retriedTtsEngine,
} from './on-demand/retried-load.ts';
import { SharedDownload, type Weights } from './on-demand/shared-download.ts';
import { SharedTextEngine } from './on-demand/shared-engine.ts';
import { OnDemandTextEngine } from './on-demand/text-engine.ts';
import { DEFAULT_PIPER_VOICE } from './piper/default-voice.ts';
import { openPiperEngine, piperBeforeLoad } from './piper/engine.ts';
import { backgroundPool } from './pool/background-pool.ts';
import { type InferencePool, type InferencePoolOptions, inferencePool } from './pool/inference-pool.ts';
import type { SpeechRequest } from './pool/model.ts';
import type { ModelSpec } from './pool/model-spec.ts';
import { poolMeter } from './pool/pool-metrics.ts';
import { poolTtsEngine } from './pool/tts-engine.ts';
import { arithmeticFor } from './runtime/cpu-arithmetic.ts';
import { openVad } from './silero/host/engine.ts';
import { openSmartTurn } from './smart-turn/host/engine.ts';
import { speakerEncoder } from './speakers/host/engine.ts';
import { type UpstreamMeter, upstreamMeters } from './upstream/client/metrics.ts';
import { upstreamEmbedEngine } from './upstream/embeddings/engine.ts';
import { upstreamTtsEngine } from './upstream/speech/engine.ts';
import { followingTtsEngine } from './upstream/speech/following-engine.ts';
import { upstreamTextEngine } from './upstream/text/engine.ts';
import { upstreamSttEngine } from './upstream/transcription/engine.ts';
import { upstreamVideoEngine } from './upstream/video/engine.ts';
import { whisperEngine } from './whisper/host/engine.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./inference-worker.ts', import.meta.url));
const DEFAULT_HUB: HubSettings = { endpoint: DEFAULT_HUB_ENDPOINT, token: undefined };
const NO_IDS: ReadonlySet<string> = new Set();
const NONE: ReadonlyMap<string, never> = new Map<string, never>();
/** Name of the speaker encoder in the pool. */
const SPEAKER_MODEL = 'resemblyzer';
/** The speech model of machines on which Kokoro and a language model together are too slow. */
const FAST_SPEECH = { kind: 'piper', voice: DEFAULT_PIPER_VOICE } as const;
/** Label of the end-of-turn model in metrics and spans. */
const TURN_END_MODEL = 'smart-turn';

export interface EngineOptions {
  readonly ttsModels: TtsModels;
  readonly sttModels: SttModels;
  /** Absent: none. */
  readonly textModels?: TextModels;
  readonly embedModels?: EmbedModels;
  readonly videoModels?: VideoModels;
  /** Ids that follow another model, by id: they share its engine. Absent: none. */
  readonly followers?: ReadonlyMap<string, string>;
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  /** Server of weights `hf:…`. Absent: the public one, without a token. */
  readonly hub?: HubSettings;
  /** Ids of models that are loaded at the start regardless of their size. Absent: none. */
  readonly requiredModels?: ReadonlySet<string>;
  /** Idle time in ms after which a model that was loaded on demand is unloaded; 0 or absent: never. */
  readonly modelIdleMs?: number;
  /** Pause after a failed download or load of a model that is not on disk. Absent: 30 s. */
  readonly modelRetryMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent: no tracing. */
  readonly tracer?: Tracer;
}

/**
 * Returns the provider of the engine slots. Only models of needed slots are loaded, and `provide` resolves when they
 * have loaded. `provide` throws a StartError that names the missing model file, voice or library of the execution
 * provider.
 */
export function engineProvider(options: EngineOptions): ServiceProvider {
  const { inference: settings, modelsDir, clock, log, metrics, ttsModels, sttModels } = options;
  const { tracer = noopTracer } = options;
  const { embedModels = NONE, videoModels = NONE, textModels = NONE, followers = NONE } = options;
  const { environment } = settings;
  const poolOptions = { entry: WORKER_ENTRY, settings, clock, log, meter: poolMeter(metrics, tracer) };
  const audioLoad = new AudioLoad();
  const onLoad = (level: AudioLoadLevel) => audioLoad.set(level);
  const pool = inferencePool<ModelSpec>({ ...poolOptions, models: {}, onLoad });
  const meterOf = upstreamMeters(metrics, tracer);
  const instrument = engineMetrics({ clock, metrics, tracer });
  let currentNeeds: ReadonlySet<keyof Slots> = new Set();
  let hasFastSpeech = false;
  /** Speech and Whisper models of the hub whose files are not on disk yet, by name in the pool. */
  const absent = new Map<string, SharedDownload>();
  let loading: Promise<void> = Promise.resolve();
  /** Loads the models of the current needs, one change after the other. */
  const loadModels = (change: () => void) => {
    loading = loading
      .catch(() => undefined)
      .then(() => {
        change();
        return pool.setModels(poolSpecs(currentNeeds, options, absent, hasFastSpeech));
      });
    return loading;
  };
  /** Loads a model whose files have been downloaded, and opens it. */
  const loadAbsent = async <Engine>(name: string, open: () => Engine): Promise<Engine> => {
    const download = absent.get(name);
    try {
      await loadModels(() => absent.delete(name));
    } catch (error) {
      // The other models of the pool must not depend on it.
      if (download !== undefined) absent.set(name, download);
      throw error;
    }
    // An error of this id is not one of others with the same weights, which stay loaded.
    return open();
  };
  const remote = (id: string) => ({ log: log.child({ model: id }), meter: meterOf(id) });
  const services = new LazyServices({
    tts: () => {
      const remotes = new Map<string, TtsEngine>();
      const open = (id: string, model: TtsModelSettings): TtsEngine => {
        if (model.kind === 'upstream') {
          const followed = remotes.get(followers.get(id) ?? '');
          const engine = followed
            ? followingTtsEngine(followed, model.compatibility)
            : upstreamTtsEngine({ settings: model, ...remote(id) });
          remotes.set(id, engine);
          return engine;
        }
        const name = poolModel(model);
        const openLoaded = () => openSpeech(pool, name, model);
        const download = absent.get(name);
        if (download === undefined) return openLoaded();
        const load = () => loadAbsent(name, openLoaded);
        const retried = new RetriedLoad({ model: id, download, load, log, retryMs: options.modelRetryMs });
        return retriedTtsEngine(retried, piperBeforeLoad(model));
      };
      const engines = new Map([...ttsModels].map(([id, model]) => [id, open(id, model)] as const));
      return openTable(languageTable(ttsModels, engines), instrument.tts);
    },
    stt: () => {
      const engines = new Map<string, SttEngine>();
      const open = (id: string, model: SttModelSettings): SttEngine => {
        if (model.kind === 'upstream') return upstreamSttEngine({ settings: model, ...remote(id) });
        const name = poolModel(model);
        const download = absent.get(name);
        if (download === undefined) return whisperEngine(pool, name);
        const load = () => loadAbsent(name, () => whisperEngine(pool, name));
        const retried = new RetriedLoad({ model: id, download, load, log, retryMs: options.modelRetryMs });
        return retriedSttEngine(retried);
      };
      return openTable(sttModels, (id, model): SttEngine => {
        const engine = engines.get(followers.get(id) ?? '') ?? open(id, model);
        engines.set(id, engine);
        return instrument.stt(id, engine);
      });
    },
    embed: () => {
      const { minilm } = poolSpecs(new Set(['embed']), options);
      // Not with a GPU, whose memory would hold the weights twice.
      const background =
        minilm && settings.provider === 'cpu'
          ? backgroundPool<ModelSpec>({ ...poolOptions, models: { minilm } })
          : undefined;
      const table = openTable(embedModels, (id, model): EmbedEngine => {
        const engine =
          model.kind === 'upstream'
            ? upstreamEmbedEngine({ settings: model, ...remote(id) })
            : minilmEngine(pool, poolModel(model), { ...settings, ...model }, background ?? pool);
        return instrument.embed(id, engine);
      });
      return closeBefore(table, background);
    },
    speakers: () => serviceHandle(speakerEncoder(pool, SPEAKER_MODEL)),
    voiceFitter: () => openFitter(pool, poolOptions, options),
    text: () => openTextTable(textModels, meterOf, instrument, audioLoad, options),
    video: () => {
      const clips = clipReader({ environment });
      const cutter = clipCutter({ environment });
      const table = openTable(videoModels, (id, model): VideoEngine => {
        const engine =
          model.kind === 'continuation'
            ? continuationEngine({ environment, log: log.child({ model: id }) })
            : upstreamVideoEngine({ settings: model, clips, cutter, ...remote(id) });
        return instrument.video(id, engine);
      });
      return closeBefore(table, clips, cutter);
    },
    vad: async () => {
      const vadMetrics = scopedMetrics(metrics);
      const vad = serviceHandle(await openVad({ modelsDir, environment, log, metrics: vadMetrics }));
      return closeBefore(vad, { close: async () => vadMetrics.close() });
    },
    fastSpeech: () => {
      const download = downloadOf(catalogWeights(FAST_SPEECH, modelsDir, options.hub), options);
      const load = async () => {
        await loadModels(() => {
          hasFastSpeech = true;
        });
        return instrument.tts(FAST_SPEECH.kind, openSpeech(pool, FAST_SPEECH.kind, FAST_SPEECH));
      };
      const speech = new OnDemandSpeech({ download, load });
      return { value: speech, close: () => speech.close() };
    },
    turnEnd: async () => {
      const { threads } = settings;
      const detector = await openSmartTurn({ modelsDir, threads, environment, log, metrics });
      return serviceHandle(instrument.turnEnd(TURN_END_MODEL, detector));
    },
  });
  return {
    slotNames: services.slotNames,
    async provide(needs) {
      try {
        addAbsent(absent, needs, options);
        // Fails early for an unknown voice or a missing file.
        poolSpecs(needs, options, absent);
        // Services that use a model close before the pool unloads it, and open after the pool has loaded it.
        await services.closeExcept(needs);
        await loadModels(() => {
          currentNeeds = needs;
          hasFastSpeech &&= needs.has('fastSpeech');
        });
        return await services.provide(needs);
      } catch (error) {
        throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
    async close() {
      try {
        await services.close();
      } finally {
        await pool.close();
      }
    },
  };
}

/** Opens a speech model that the pool has loaded. @throws Error for an unknown speaker of CONFIG. */
function openSpeech(pool: InferencePool, name: string, model: EmbeddedTtsSettings): TtsEngine {
  if (model.kind === 'piper') return openPiperEngine(pool, name, model);
  const voices = model.voices === 'presets' ? kokoroVoices(model.voice) : undefined;
  return poolTtsEngine(pool, name, model, kokoroLanguages(model.voice), voices);
}

/** Adds the speech and Whisper models of the hub whose files are not on disk. */
function addAbsent(
  absent: Map<string, SharedDownload>,
  needs: ReadonlySet<keyof Slots>,
  options: EngineOptions,
): void {
  const { ttsModels, sttModels, modelsDir, hub = DEFAULT_HUB } = options;
  const tts = needs.has('tts') ? [...ttsModels.values()] : [];
  const stt = needs.has('stt') ? [...sttModels.values()] : [];
  for (const settings of [...tts, ...stt]) {
    if (settings.kind === 'upstream') continue;
    const files = settings.kind === 'whisper' ? outsideCatalog(settings)?.hub : piperHubFiles(settings);
    const weights = files && hubWeights(files, modelsDir, hub);
    const name = poolModel(settings);
    if (weights === undefined || weights.isOnDisk() || absent.has(name)) continue;
    absent.set(name, downloadOf(weights, options));
  }
}

/** The models that are on disk, and those of other servers. */
function present<Settings extends SttModelSettings | TtsModelSettings>(
  models: ReadonlyMap<string, Settings>,
  absent: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Settings> {
  return new Map(
    [...models].filter(([, settings]) => settings.kind === 'upstream' || !absent.has(poolModel(settings))),
  );
}

/** Specs of the models that these slots need, without absent ones. @throws Error for an unknown voice, unknown weights or a missing file. */
function poolSpecs(
  needs: ReadonlySet<keyof Slots>,
  { ttsModels, sttModels, embedModels = NONE, modelsDir }: EngineOptions,
  absent: ReadonlyMap<string, unknown> = NONE,
  hasFastSpeech = false,
): Readonly<Record<string, ModelSpec>> {
  const tts = needs.has('tts') ? present(ttsModels, absent) : NONE;
  const stt = needs.has('stt') ? present(sttModels, absent) : NONE;
  const embed = needs.has('embed') ? embedModels : NONE;
  const fast = hasFastSpeech ? new Map([[FAST_SPEECH.kind, FAST_SPEECH]]) : NONE;
  return {
    ...embeddedSpecs({ tts: fast, stt: NONE, embed: NONE }, modelsDir),
    ...embeddedSpecs({ tts, stt, embed }, modelsDir),
    ...(needs.has('speakers') && { [SPEAKER_MODEL]: { kind: SPEAKER_MODEL, modelsDir } }),
  };
}

/** Opens the fitter of stored voices for the first Kokoro model of CONFIG. Without one, no voice needs an adaptation. */
function openFitter(
  pool: InferencePool,
  poolOptions: Omit<InferencePoolOptions<ModelSpec>, 'models'>,
  options: EngineOptions,
): ServiceHandle<VoiceFitter> {
  const settings = options.ttsModels.values().find(({ kind }) => kind === 'kokoro');
  const kokoroModels = new Map([...options.ttsModels].filter(([, { kind }]) => kind === 'kokoro'));
  const { kokoro } = poolSpecs(new Set(['tts']), { ...options, ttsModels: kokoroModels });
  if (!kokoro || settings?.kind !== 'kokoro') return serviceHandle(NO_FITTER);
  const { modelsDir, log, inference } = options;
  const model = poolModel(settings);
  // One process, because each process holds a copy of the weights. None with a GPU, whose memory would hold them twice.
  const background =
    inference.provider === 'cpu'
      ? backgroundPool<ModelSpec>({
          ...poolOptions,
          settings: { ...inference, workers: 1 },
          models: { kokoro },
        })
      : undefined;
  const arithmetic = arithmeticFor(inference.provider);
  const statistics = new PresetStatistics({
    names: englishPresetNames(),
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
      for await (const _ of (background ?? pool).runJob(model, job, signal));
    },
    log: log.child({ model }),
  });
  return closeBefore({ value: kokoroFitter, close: () => statistics.close() }, background);
}

/**
 * Opens the language models. Models with the same weights share a process, with the largest of their slots and contexts. They
 * load concurrently; large models are loaded by their first request, and models whose files are not on disk in the background.
 */
async function openTextTable(
  models: TextModels,
  meterOf: (id: string) => UpstreamMeter,
  instrument: EngineMetrics,
  audioLoad: AudioLoad,
  options: EngineOptions,
): Promise<ServiceHandle<ModelTable<TextEngine>>> {
  const { inference, modelsDir, hub = DEFAULT_HUB, log, metrics, tracer = noopTracer } = options;
  const { requiredModels = NO_IDS, modelIdleMs: idleMs = 0 } = options;
  // On a GPU they do not share the cores.
  const sharesCoresWith = inference.provider === 'cpu' ? audioLoad : undefined;
  const embedded = [...models].flatMap(([id, settings]) =>
    settings.kind === 'llama' ? [{ id, settings }] : [],
  );
  /** By weights. */
  const shared = new Map(
    [...Map.groupBy(embedded, ({ settings }) => settings.weights)].map(([weights, users]) => {
      // Log lines and metrics of the process have the first id.
      const { id, settings } = users.reduce((first, next) => ({
        id: first.id,
        settings: largestSettings(first.settings, next.settings),
      }));
      const meter = llamaWorkerMeter(id, metrics, tracer);
      const process = { settings, inference, modelsDir, log: log.child({ model: id }), meter };
      const engine = new SharedTextEngine(() => openLlama({ ...process, audioLoad: sharesCoresWith }));
      return [weights, { engine, download: downloadOf(llamaWeights(weights, modelsDir, hub), options) }];
    }),
  );
  const openEmbedded = async (id: string, settings: EmbeddedTextSettings): Promise<TextEngine> => {
    const { weights, contextTokens, defaultMaxTokens } = settings;
    const { engine, download } = shared.get(weights) ?? {};
    if (engine === undefined || download === undefined) throw new Error(`no process for '${weights}'`);
    const open = () => engine.open(defaultMaxTokens);
    if (!requiredModels.has(id) && isLarge(weights)) {
      const modelLog = log.child({ model: id });
      return new OnDemandTextEngine({ model: id, contextTokens, download, open, idleMs, log: modelLog });
    }
    // A missing file of the operator is an error of the start.
    if (!download.isOnDisk() && !weights.startsWith('/')) {
      const { modelRetryMs: retryMs } = options;
      const load = new RetriedLoad({ model: id, download, load: open, log, retryMs });
      return retriedTextEngine(load, contextTokens);
    }
    log.info('loading a model', { model: id });
    const loaded = await open();
    log.info('loaded a model', { model: id });
    return loaded;
  };
  const opening = [...models].map(async ([id, settings]): Promise<[string, TextEngine]> => {
    const engine =
      settings.kind === 'upstream'
        ? upstreamTextEngine({ settings, log: log.child({ model: id }), meter: meterOf(id) })
        : await openEmbedded(id, settings);
    return [id, instrument.text(id, engine)];
  });
  const settled = await Promise.allSettled(opening);
  const engines = new Map(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const downloads = [...shared.values()].map(({ download }) => download);
  const table = closeBefore(tableOf(engines), ...downloads);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed === undefined) return table;
  await table.close();
  throw failed.reason;
}

/** The settings of a process of several models: the largest of each. */
function largestSettings(one: EmbeddedTextSettings, other: EmbeddedTextSettings): EmbeddedTextSettings {
  return {
    ...one,
    slots: Math.max(one.slots, other.slots),
    contextTokens: Math.max(one.contextTokens, other.contextTokens),
    defaultMaxTokens: Math.max(one.defaultMaxTokens, other.defaultMaxTokens),
  };
}

function downloadOf(weights: Weights, { clock, log }: EngineOptions): SharedDownload {
  return new SharedDownload({
    weights,
    onNote: (note) => log.info('model download', { note }),
    nowMs: () => clock.monotonicMs(),
  });
}

/** Opens an engine for each model. */
function openTable<Settings, Engine extends TtsEngine | SttEngine | EmbedEngine | VideoEngine>(
  models: ReadonlyMap<string, Settings>,
  open: (id: string, settings: Settings) => Engine,
): ServiceHandle<ModelTable<Engine>> {
  return tableOf(new Map([...models].map(([id, settings]) => [id, open(id, settings)])));
}

/** Makes a slot of the engines. Its handle closes them. */
function tableOf<Engine extends { close(): Promise<void> }>(
  engines: ReadonlyMap<string, Engine>,
): ServiceHandle<ModelTable<Engine>> {
  const table = { ids: [...engines.keys()], get: (id: string) => engines.get(id) };
  return closeBefore(serviceHandle(table), ...engines.values());
}

/** Extends a handle to close its dependencies after the service. */
function closeBefore<Value>(
  { value, close }: ServiceHandle<Value>,
  ...dependencies: readonly ({ close(): Promise<void> } | undefined)[]
): ServiceHandle<Value> {
  return {
    value,
    async close() {
      const closing = new AsyncDisposableStack();
      for (const dependency of dependencies) closing.defer(async () => dependency?.close());
      closing.defer(close);
      await closing.disposeAsync();
    },
  };
}
