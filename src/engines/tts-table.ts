/** From CONFIG's model ids to engines. All embedded models share one pool of inference processes. */

import { fileURLToPath } from 'node:url';
import type { Float32Samples } from '../contract/audio.ts';
import type { Clock } from '../contract/clock.ts';
import type { TtsEngine } from '../contract/engine.ts';
import { StartError } from '../contract/error.ts';
import type { Logger } from '../contract/logger.ts';
import type { Metrics } from '../contract/metrics.ts';
import type { ModelTable } from '../contract/plugin.ts';
import type { EmbeddedTtsSettings, InferenceSettings, TtsModels } from '../contract/settings.ts';
import { catalogEntry, resolveModelFiles } from './model-files.ts';
import type { ModelSpec } from './model-spec.ts';
import type { SpeechDescription, SpeechRequest } from './pass-model.ts';
import { upstreamTtsEngine } from './upstream/upstream-tts-engine.ts';
import { type InferencePool, startInferencePool } from './worker-pool.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./inference-worker.ts', import.meta.url));

export interface TtsTableOptions {
  readonly models: TtsModels;
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface OpenTtsTable {
  readonly table: ModelTable<TtsEngine>;
  /** Ends every inference process and connection. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the engine of every configured model and waits until the embedded ones are loaded.
 * @throws StartError that says what is missing: a model file, a voice, a library of the provider.
 */
export async function openTtsTable(options: TtsTableOptions): Promise<OpenTtsTable> {
  const { models, log } = options;
  const pool = await openPool(options).catch((error: unknown) => {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const engines = new Map<string, TtsEngine>();
  for (const [id, settings] of models) {
    if (settings.kind === 'upstream')
      engines.set(id, upstreamTtsEngine({ settings, log: log.child({ model: id }) }));
    else if (pool) engines.set(id, embeddedTtsEngine(pool, settings));
  }
  return {
    table: { ids: [...engines.keys()], get: (id) => engines.get(id) },
    async close() {
      await Promise.all([...engines.values()].map((engine) => engine.close()));
      await pool?.close();
    },
  };
}

/** The pool of the embedded models, or undefined when CONFIG names none. */
async function openPool(options: TtsTableOptions): Promise<InferencePool | undefined> {
  const models = embeddedSpecs(options.models, options.modelsDir);
  if (Object.keys(models).length === 0) return undefined;
  const { inference: settings, clock, log, metrics } = options;
  return startInferencePool<ModelSpec>({ entry: WORKER_ENTRY, models, settings, clock, log, metrics });
}

/**
 * One spec for each kind of embedded model, with every voice that CONFIG names: ids that differ in their
 * voice only share the weights.
 * @throws Error for a voice that does not exist, or a missing file.
 */
export function embeddedSpecs(models: TtsModels, modelsDir: string): Record<string, ModelSpec> {
  const embedded = [...models.values()].filter((settings) => settings.kind !== 'upstream');
  for (const settings of embedded) requireVoice(settings);
  const voices = Map.groupBy(embedded, ({ kind }) => kind);
  return Object.fromEntries(
    [...voices].map(([kind, of]) => {
      const names = [...new Set(of.map(({ voice }) => voice))];
      return [kind, specOf(kind, names, modelsDir)];
    }),
  );
}

const VOICE_ENTRIES = { kokoro: 'kokoro-voices', piper: 'piper-en-us-joe' } as const;

/** Names of the voices of an embedded model: its voice files, without `.bin`, `.onnx`. */
function voicesOf(kind: EmbeddedTtsSettings['kind']): string[] {
  const names = catalogEntry(VOICE_ENTRIES[kind]).files.map(({ name }) => name);
  return names.filter((name) => /\.(bin|onnx)$/.test(name)).map((name) => name.replace(/\.[a-z]+$/, ''));
}

function requireVoice({ kind, voice }: EmbeddedTtsSettings): void {
  const voices = voicesOf(kind);
  if (voices.includes(voice)) return;
  throw new Error(`CONFIG: '${voice}' is no voice of ${kind}; allowed: ${voices.join(', ')}.`);
}

function specOf(kind: EmbeddedTtsSettings['kind'], voices: readonly string[], modelsDir: string): ModelSpec {
  switch (kind) {
    case 'kokoro':
      return { kind, modelsDir, voices };
    case 'piper': {
      // Weights and voice are one file, and the catalog lists one.
      const [voice] = voices;
      const files = resolveModelFiles(modelsDir, VOICE_ENTRIES.piper);
      return { kind, model: files[`${voice}.onnx`] ?? '', settings: files[`${voice}.onnx.json`] ?? '' };
    }
  }
}

/** An engine in the shared pool, which outlives it. */
function embeddedTtsEngine(
  pool: InferencePool,
  { kind, voice: defaultVoice }: EmbeddedTtsSettings,
): TtsEngine {
  const { rateHz } = pool.description<SpeechDescription>(kind);
  return {
    rateHz,
    synthesize(request, signal) {
      const { text, voice = defaultVoice, speed, delivery, priority, aheadMs } = request;
      const lengthMs = (samples: Float32Samples) => (samples.length * 1000) / rateHz;
      return pool.run<SpeechRequest, Float32Samples>(
        kind,
        { request: { text, voice, speed, delivery }, priority, delivery, aheadMs, lengthMs },
        signal,
      );
    },
    ready: () => pool.ready(),
    close: async () => undefined,
  };
}
