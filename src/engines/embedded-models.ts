/** Maps the models of CONFIG to specs of the inference pool and to entries of the model catalog. */

import { existsSync } from 'node:fs';
import {
  HUB_WHISPER_WEIGHTS,
  type HubFiles,
  hubGguf,
  hubPiper,
  hubWhisper,
  isPiperFile,
  PIPER_VOICE_RULE,
  resolveHubFiles,
} from '../../models/hub-reference.ts';
import {
  type CatalogEntry,
  catalogEntry,
  entriesForEngines,
  resolveModelFiles,
  WHISPER_WEIGHTS,
  whisperKind,
} from '../../models/model-files.ts';
import { StartError } from '../contract/core/error.ts';
import type {
  ConfiguredModels,
  EmbeddedEmbedSettings,
  EmbeddedSttSettings,
  EmbeddedTextSettings,
  EmbeddedTtsSettings,
  SttModelSettings,
  TextModelSettings,
  TtsModelSettings,
} from '../contract/core/settings.ts';
import { ESPEAK_ENGINE } from './espeak/shared/files.ts';
import { LLAMA_WEIGHTS, llamaKind } from './llama/shared/model-file.ts';
import { isLarge } from './on-demand/llama-weights.ts';
import { DEFAULT_PIPER_VOICE } from './piper/default-voice.ts';
import type { ModelSpec, PiperSpec } from './pool/model-spec.ts';

/** Engines of every conversation, which CONFIG does not name. */
const DETECTORS = ['silero', 'smart-turn'];

/** Name of a model in the pool. Model ids that differ only in the voice share the weights and the name. */
export function poolModel(
  settings: EmbeddedTtsSettings | EmbeddedSttSettings | EmbeddedEmbedSettings,
): string {
  switch (settings.kind) {
    case 'whisper':
      return whisperKind(settings.weights);
    case 'piper':
      // A Piper file contains weights and voice.
      return settings.voice === DEFAULT_PIPER_VOICE ? settings.kind : `${settings.kind}-${settings.voice}`;
    default:
      return settings.kind;
  }
}

/** The hub files of a Piper voice; undefined for the voice of the catalog, for own files and for other models. */
export function piperHubFiles({
  kind,
  voice,
}: Pick<EmbeddedTtsSettings, 'kind' | 'voice'>): HubFiles | undefined {
  return kind === 'piper' && voice !== DEFAULT_PIPER_VOICE ? hubPiper(voice) : undefined;
}

/**
 * What of a model is outside the catalog: a file or folder of the operator, or files of the hub. Undefined for weights of the
 * catalog and for models of other servers.
 */
export function outsideCatalog(
  settings: TtsModelSettings | SttModelSettings | TextModelSettings,
): { readonly weights: string; readonly hub: HubFiles | undefined } | undefined {
  if (settings.kind === 'upstream' || settings.kind === 'kokoro') return undefined;
  const weights = 'weights' in settings ? settings.weights : settings.voice;
  if (weights.startsWith('/')) return { weights, hub: undefined };
  const hub = hubFilesOf(settings);
  return hub && { weights, hub };
}

function hubFilesOf(
  settings: EmbeddedTtsSettings | EmbeddedSttSettings | EmbeddedTextSettings,
): HubFiles | undefined {
  switch (settings.kind) {
    case 'whisper':
      return hubWhisper(settings.weights);
    case 'llama':
      return hubGguf(settings.weights);
    default:
      return piperHubFiles(settings);
  }
}

/**
 * Returns one spec for each name in the pool. The spec of a speech model contains every voice that CONFIG names.
 * @throws Error for an unknown voice, unknown weights or a missing file.
 */
export function embeddedSpecs(
  { tts, stt, embed }: Omit<ConfiguredModels, 'text'>,
  modelsDir: string,
): Readonly<Record<string, ModelSpec>> {
  const embeddedTts = [...tts.values()].filter((settings) => settings.kind !== 'upstream');
  const embeddedStt = [...stt.values()].filter((settings) => settings.kind !== 'upstream');
  for (const settings of embeddedTts) requireVoice(settings);
  for (const settings of embeddedStt) requireWeights(settings);
  const specs: Record<string, ModelSpec> = {};
  for (const [name, models] of Map.groupBy(embeddedTts, poolModel)) {
    const [first] = models;
    if (first === undefined) continue;
    const voices = [...new Set(models.map(({ voice }) => voice))];
    specs[name] =
      first.kind === 'kokoro' ? { kind: first.kind, modelsDir, voices } : piperSpec(first.voice, modelsDir);
  }
  for (const settings of embeddedStt) specs[poolModel(settings)] = { ...settings, modelsDir };
  if (embed.values().some(({ kind }) => kind === 'minilm')) specs.minilm = minilmSpec(modelsDir);
  return specs;
}

/** Returns the models that are loaded at the start: all except large language models that are not required. */
export function modelsAtStart(models: ConfiguredModels, required: ReadonlySet<string>): ConfiguredModels {
  const text = [...models.text].filter(
    ([id, settings]) => settings.kind === 'upstream' || required.has(id) || !isLarge(settings.weights),
  );
  return { ...models, text: new Map(text) };
}

/**
 * Returns the catalog entries that the models need, and those of voice activity detection and end-of-turn detection.
 * @param additional engines whose entries are needed as well.
 * @throws StartError for unknown weights, and for an unknown voice of Piper.
 */
export function entriesForModels(
  { tts, stt, text, embed }: ConfiguredModels,
  additional: readonly string[] = [],
): CatalogEntry[] {
  const pooled = [...tts.values(), ...stt.values(), ...embed.values()];
  const embedded = pooled.filter((settings) => settings.kind !== 'upstream');
  for (const settings of embedded) {
    if (settings.kind === 'whisper') requireWeights(settings);
    if (settings.kind === 'piper') requireVoice(settings);
  }
  const llama = [...text.values()].filter((settings) => settings.kind === 'llama');
  for (const settings of llama) requireLlamaWeights(settings);
  const phonemes = embedded.some(needsEspeakNg) ? [ESPEAK_ENGINE] : [];
  const kinds = [...embedded.map(poolModel), ...phonemes, ...llama.map(({ weights }) => llamaKind(weights))];
  return entriesForEngines([...kinds, ...DETECTORS, ...additional]);
}

/** Returns the files of the model hub that the models need. */
export function hubFilesForModels({ tts, stt, text }: ConfiguredModels): HubFiles[] {
  const needed = new Map<string, HubFiles>();
  for (const settings of [...tts.values(), ...stt.values(), ...text.values()]) {
    const { weights, hub } = outsideCatalog(settings) ?? {};
    if (hub !== undefined) needed.set(`${settings.kind} ${weights}`, hub);
  }
  return [...needed.values()];
}

/** American English of the catalog's Piper voice has a phonemizer of its own. */
function needsEspeakNg(settings: EmbeddedTtsSettings | EmbeddedSttSettings | EmbeddedEmbedSettings): boolean {
  return settings.kind === 'kokoro' || (settings.kind === 'piper' && settings.voice !== DEFAULT_PIPER_VOICE);
}

/** Returns the catalog entries that a Piper voice of the hub needs. */
export function piperVoiceEntries(): CatalogEntry[] {
  return entriesForEngines([ESPEAK_ENGINE]);
}

/** Returns the engines that the loaded plugins need in addition to CONFIG. @param plugins undefined: all. */
export function enginesOfPlugins(plugins: readonly string[] | undefined): string[] {
  return plugins === undefined || plugins.includes('voices') ? ['resemblyzer'] : [];
}

/** Names of Kokoro's voices: the names of its voice files without `.bin`. */
function kokoroVoiceNames(): string[] {
  const names = catalogEntry('kokoro-voices').files.map(({ name }) => name);
  return names.filter((name) => name.endsWith('.bin')).map((name) => name.replace(/\.bin$/, ''));
}

function requireVoice({ kind, voice }: EmbeddedTtsSettings): void {
  const isKnown =
    kind === 'kokoro'
      ? kokoroVoiceNames().includes(voice)
      : isPiperFile(voice) || hubPiper(voice) !== undefined;
  if (isKnown) return;
  const allowed =
    kind === 'kokoro' ? kokoroVoiceNames().join(', ') : `${DEFAULT_PIPER_VOICE}, ${PIPER_VOICE_RULE}`;
  throw new StartError(`CONFIG: unknown voice '${voice}' for ${kind}. Allowed: ${allowed}.`);
}

/** Accepts any absolute path; the loader checks the folder. */
function requireWeights({ weights }: EmbeddedSttSettings): void {
  const isKnown = WHISPER_WEIGHTS.includes(weights) || hubWhisper(weights) !== undefined;
  if (weights.startsWith('/') || isKnown) return;
  const names = [...WHISPER_WEIGHTS, ...HUB_WHISPER_WEIGHTS].join(', ');
  throw new StartError(
    `CONFIG: unknown weights '${weights}' for whisper. Allowed: ${names}, hf:owner/repository, or the absolute path of a folder.`,
  );
}

/** Accepts any absolute path; the loader checks the file. */
function requireLlamaWeights({ weights }: EmbeddedTextSettings): void {
  const isKnown = LLAMA_WEIGHTS.includes(weights) || hubGguf(weights) !== undefined;
  if (weights.startsWith('/') || isKnown) return;
  throw new StartError(
    `CONFIG: unknown weights '${weights}' for llama. Allowed: ${LLAMA_WEIGHTS.join(', ')}, hf:owner/repository/file.gguf, or the absolute path of a GGUF file.`,
  );
}

function minilmSpec(modelsDir: string): ModelSpec {
  return {
    kind: 'minilm',
    model: resolveModelFiles(modelsDir, 'all-minilm-l6-v2-int8')['model.onnx'] ?? '',
    vocabulary: resolveModelFiles(modelsDir, 'bert-uncased-vocabulary')['vocab.json'] ?? '',
  };
}

/** @throws Error for a missing file. */
function piperSpec(voice: string, modelsDir: string): PiperSpec {
  const kind = 'piper';
  if (voice === DEFAULT_PIPER_VOICE) {
    const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
    const [model = '', settings = ''] = [files[`${voice}.onnx`], files[`${voice}.onnx.json`]];
    return { kind, voice, model, settings };
  }
  const hub = hubPiper(voice);
  if (hub === undefined) {
    const files = { model: voice, settings: `${voice}.json` };
    const missing = Object.values(files).find((path) => !existsSync(path));
    if (missing === undefined)
      return { kind, voice, modelsDir, model: files.model, settings: files.settings };
    throw new Error(`CONFIG: the file ${missing} of a Piper voice does not exist.`);
  }
  const files = resolveHubFiles(modelsDir, hub);
  if (files === undefined) {
    throw new Error(`The Piper voice ${voice} is missing. Run \`bun run models fetch ${voice}\`.`);
  }
  const [model = '', settings = ''] = hub.paths.map((path) => files[path]);
  return { kind, voice, modelsDir, model, settings };
}
