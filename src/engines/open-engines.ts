/** From CONFIG's model ids to engines. All embedded models share one pool of inference processes. */

import { fileURLToPath } from 'node:url';
import type { Clock } from '../contract/clock.ts';
import type { EmbedEngine } from '../contract/embed.ts';
import type { SttEngine, TtsEngine } from '../contract/engine.ts';
import { StartError } from '../contract/error.ts';
import type { Logger } from '../contract/logger.ts';
import type { Metrics } from '../contract/metrics.ts';
import type { ModelTable, Slots } from '../contract/plugin.ts';
import type {
  EmbedModels,
  InferenceSettings,
  SttModels,
  TextModels,
  TtsModels,
  VideoModels,
} from '../contract/settings.ts';
import type { TextEngine } from '../contract/text.ts';
import type { VideoEngine } from '../contract/video.ts';
import type { VoiceFitter } from '../contract/voice.ts';
import { clipCutter } from '../media/clip-cutter.ts';
import { clipReader } from '../media/clip-reader.ts';
import { BatchPool } from './batch-pool.ts';
import { continuationEngine } from './continuation/continuation-engine.ts';
import { embeddedSpecs, poolModel } from './embedded-models.ts';
import { kokoroFitter, NO_FITTER } from './kokoro/kokoro-fitter.ts';
import { englishPresetNames } from './kokoro/kokoro-mix.ts';
import { openLlama } from './llama/llama-engine.ts';
import { minilmEngine } from './minilm/minilm-engine.ts';
import type { ModelSpec } from './model-spec.ts';
import { poolMeter } from './pool-meter.ts';
import { poolTtsEngine } from './pool-tts-engine.ts';
import { openVad } from './silero/silero-engine.ts';
import { speakerEncoder } from './speakers/speaker-engine.ts';
import { upstreamEmbedEngine } from './upstream/upstream-embed-engine.ts';
import { type UpstreamMeter, upstreamMeters } from './upstream/upstream-meter.ts';
import { upstreamSttEngine } from './upstream/upstream-stt-engine.ts';
import { upstreamTextEngine } from './upstream/upstream-text-engine.ts';
import { upstreamTtsEngine } from './upstream/upstream-tts-engine.ts';
import { upstreamVideoEngine } from './upstream/upstream-video-engine.ts';
import { whisperEngine } from './whisper/whisper-engine.ts';
import { type InferencePool, type InferencePoolOptions, startInferencePool } from './worker-pool.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./inference-worker.ts', import.meta.url));
const NONE: ReadonlyMap<string, never> = new Map<string, never>();
/** Name in the pool of what tells speakers apart. */
const SPEAKERS = 'resemblyzer';

export interface OpenEnginesOptions {
  /** Slots that a loaded plugin needs; nothing is loaded for others. */
  readonly needs: ReadonlySet<keyof Slots>;
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
}

export interface OpenEngines {
  /** Those of the needs that engines fill. */
  readonly slots: Partial<
    Pick<Slots, 'tts' | 'stt' | 'vad' | 'text' | 'embed' | 'video' | 'speakers' | 'voiceFitter'>
  >;
  /** Ends every process and connection. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the engine of every configured model that is needed and waits until the embedded ones are loaded.
 * @throws StartError that says what is missing: a model file, a voice, a library of the provider.
 */
export async function openEngines(options: OpenEnginesOptions): Promise<OpenEngines> {
  const { needs, inference: settings, modelsDir, clock, log, metrics } = options;
  const opened = new AsyncDisposableStack();
  try {
    const tts = needs.has('tts') ? options.ttsModels : NONE;
    const stt = needs.has('stt') ? options.sttModels : NONE;
    const embed = needs.has('embed') ? (options.embedModels ?? NONE) : NONE;
    const hearsSpeakers = needs.has('speakers') || needs.has('voiceFitter');
    const models: Readonly<Record<string, ModelSpec>> = {
      ...embeddedSpecs({ tts, stt, embed }, modelsDir),
      ...(hearsSpeakers && { [SPEAKERS]: { kind: SPEAKERS, modelsDir } }),
    };
    const parts = { entry: WORKER_ENTRY, settings, clock, log, meter: poolMeter(metrics) };
    const pool = opened.adopt(await startInferencePool<ModelSpec>({ ...parts, models }), (it) => it.close());
    const meterOf = upstreamMeters(metrics);
    const remote = (id: string) => ({ log: log.child({ model: id }), meter: meterOf(id) });
    const slots: OpenEngines['slots'] = {};
    if (needs.has('tts')) {
      slots.tts = openTable(tts, opened, (id, model): TtsEngine => {
        if (model.kind === 'upstream') return upstreamTtsEngine({ settings: model, ...remote(id) });
        return poolTtsEngine(pool, poolModel(model), model.voice);
      });
    }
    if (needs.has('stt')) {
      slots.stt = openTable(stt, opened, (id, model): SttEngine => {
        if (model.kind === 'upstream') return upstreamSttEngine({ settings: model, ...remote(id) });
        return whisperEngine(pool, poolModel(model));
      });
    }
    if (needs.has('embed')) {
      const { minilm } = models;
      // A GPU would have to hold the weights twice.
      const lastPool =
        minilm && settings.provider === 'cpu'
          ? opened.adopt(new BatchPool<ModelSpec>({ ...parts, models: { minilm } }), (it) => it.close())
          : pool;
      slots.embed = openTable(embed, opened, (id, model): EmbedEngine => {
        if (model.kind === 'upstream') return upstreamEmbedEngine({ settings: model, ...remote(id) });
        return minilmEngine(pool, poolModel(model), settings, lastPool);
      });
    }
    if (needs.has('speakers')) slots.speakers = speakerEncoder(pool, SPEAKERS);
    if (needs.has('voiceFitter')) slots.voiceFitter = openFitter(tts, models, pool, parts, opened, modelsDir);
    if (needs.has('text')) {
      slots.text = await openTextTable(options.textModels ?? NONE, opened, meterOf, options);
    }
    if (needs.has('video')) {
      const { environment } = settings;
      const clips = opened.adopt(clipReader({ environment }), (it) => it.close());
      const cutter = opened.adopt(clipCutter({ environment }), (it) => it.close());
      slots.video = openTable(options.videoModels ?? NONE, opened, (id, model): VideoEngine => {
        if (model.kind === 'continuation')
          return continuationEngine({ environment, log: log.child({ model: id }) });
        return upstreamVideoEngine({ settings: model, clips, cutter, ...remote(id) });
      });
    }
    if (needs.has('vad')) {
      const { environment } = settings;
      slots.vad = opened.adopt(await openVad({ modelsDir, environment, log, metrics }), (it) => it.close());
    }
    return { slots, close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** What fits stored voices to Kokoro, where CONFIG has it. */
function openFitter(
  tts: TtsModels,
  models: Readonly<Record<string, ModelSpec>>,
  pool: InferencePool,
  parts: Omit<InferencePoolOptions<ModelSpec>, 'models'>,
  opened: AsyncDisposableStack,
  modelsDir: string,
): VoiceFitter {
  const { kokoro, [SPEAKERS]: speakers } = models;
  const settings = tts.values().find(({ kind }) => kind === 'kokoro');
  if (!kokoro || !speakers || settings?.kind !== 'kokoro') return NO_FITTER;
  // One process: a second would hold the weights once more. A GPU would have to hold them twice.
  const alone = { ...parts.settings, workers: 1 };
  const lastPool =
    parts.settings.provider === 'cpu'
      ? opened.adopt(
          new BatchPool<ModelSpec>({ ...parts, settings: alone, models: { kokoro, [SPEAKERS]: speakers } }),
          (it) => it.close(),
        )
      : pool;
  const names = { speech: poolModel(settings), speakers: SPEAKERS };
  const { clock, log } = parts;
  const fitter = kokoroFitter({
    ...{ models: names, pool, lastPool, defaultVoice: settings.voice, modelsDir },
    presets: englishPresetNames(),
    ...{ clock, log: log.child({ model: poolModel(settings) }) },
  });
  return opened.adopt(fitter, (it) => it.close());
}

/** Language models, each with a process of its own, which load at once. */
async function openTextTable(
  models: TextModels,
  opened: AsyncDisposableStack,
  meterOf: (id: string) => UpstreamMeter,
  { inference, modelsDir, log }: OpenEnginesOptions,
): Promise<ModelTable<TextEngine>> {
  const opening = [...models].map(async ([id, settings]): Promise<[string, TextEngine]> => {
    const own = log.child({ model: id });
    const engine =
      settings.kind === 'upstream'
        ? upstreamTextEngine({ settings, log: own, meter: meterOf(id) })
        : await openLlama({ settings, inference, modelsDir, log: own });
    return [id, opened.adopt(engine, (it) => it.close())];
  });
  // Each is closed by whoever opened it, those too that load while another one fails.
  const settled = await Promise.allSettled(opening);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  const engines = new Map(await Promise.all(opening));
  return { ids: [...engines.keys()], get: (id) => engines.get(id) };
}

/** Opens an engine for each model; `opened` closes them. */
function openTable<Settings, Engine extends TtsEngine | SttEngine | EmbedEngine | VideoEngine>(
  models: ReadonlyMap<string, Settings>,
  opened: AsyncDisposableStack,
  open: (id: string, settings: Settings) => Engine,
): ModelTable<Engine> {
  const engines = new Map<string, Engine>();
  for (const [id, settings] of models) {
    engines.set(
      id,
      opened.adopt(open(id, settings), (engine) => engine.close()),
    );
  }
  return { ids: [...engines.keys()], get: (id) => engines.get(id) };
}
