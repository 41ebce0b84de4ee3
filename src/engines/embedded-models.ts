/** Maps the models of CONFIG to specs of the inference pool and to entries of the model catalog. */

import { HUB_WHISPER_WEIGHTS, type HubFiles, hubGguf, hubWhisper } from '../../models/hub-reference.ts';
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
} from '../contract/core/settings.ts';
import { ESPEAK_ENGINE } from './espeak/shared/files.ts';
import { LLAMA_WEIGHTS, llamaKind } from './llama/shared/model-file.ts';
import { isLarge } from './on-demand/llama-weights.ts';
import type { ModelSpec } from './pool/model-spec.ts';

/** Engines of every conversation, which CONFIG does not name. */
const DETECTORS = ['silero', 'smart-turn'];

/** Name of a model in the pool. Model ids that differ only in the voice share the weights and the name. */
export function poolModel(
  settings: EmbeddedTtsSettings | EmbeddedSttSettings | EmbeddedEmbedSettings,
): string {
  return settings.kind === 'whisper' ? whisperKind(settings.weights) : settings.kind;
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
  for (const [kind, models] of Map.groupBy(embeddedTts, (settings) => settings.kind)) {
    specs[kind] = voicesSpec(kind, [...new Set(models.map(({ voice }) => voice))], modelsDir);
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
 * @throws StartError for unknown weights.
 */
export function entriesForModels(
  { tts, stt, text, embed }: ConfiguredModels,
  additional: readonly string[] = [],
): CatalogEntry[] {
  const pooled = [...tts.values(), ...stt.values(), ...embed.values()];
  const embedded = pooled.filter((settings) => settings.kind !== 'upstream');
  for (const settings of embedded) if (settings.kind === 'whisper') requireWeights(settings);
  const llama = [...text.values()].filter((settings) => settings.kind === 'llama');
  for (const settings of llama) requireLlamaWeights(settings);
  const phonemes = embedded.some(({ kind }) => kind === 'kokoro') ? [ESPEAK_ENGINE] : [];
  const kinds = [...embedded.map(poolModel), ...phonemes, ...llama.map(({ weights }) => llamaKind(weights))];
  return entriesForEngines([...kinds, ...DETECTORS, ...additional]);
}

/** Returns the files of the model hub that the models need. */
export function hubFilesForModels({ stt, text }: ConfiguredModels): HubFiles[] {
  const needed = new Map<string, HubFiles>();
  const embedded = [...stt.values(), ...text.values()].filter((settings) => settings.kind !== 'upstream');
  for (const { kind, weights } of embedded) {
    const files = kind === 'whisper' ? hubWhisper(weights) : hubGguf(weights);
    if (files !== undefined) needed.set(`${kind} ${weights}`, files);
  }
  return [...needed.values()];
}

/** Returns the engines that the loaded plugins need in addition to CONFIG. @param plugins undefined: all. */
export function enginesOfPlugins(plugins: readonly string[] | undefined): string[] {
  return plugins === undefined || plugins.includes('voices') ? ['resemblyzer'] : [];
}

const VOICE_ENTRIES = { kokoro: 'kokoro-voices', piper: 'piper-en-us-joe' } as const;

/** Names of the voices of an embedded model: the names of its voice files without `.bin` or `.onnx`. */
function voicesOf(kind: EmbeddedTtsSettings['kind']): string[] {
  const names = catalogEntry(VOICE_ENTRIES[kind]).files.map(({ name }) => name);
  return names.filter((name) => /\.(bin|onnx)$/.test(name)).map((name) => name.replace(/\.[a-z]+$/, ''));
}

function requireVoice({ kind, voice }: EmbeddedTtsSettings): void {
  const voices = voicesOf(kind);
  if (voices.includes(voice)) return;
  throw new Error(`CONFIG: unknown voice '${voice}' for ${kind}. Allowed: ${voices.join(', ')}.`);
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

function voicesSpec(
  kind: EmbeddedTtsSettings['kind'],
  voices: readonly string[],
  modelsDir: string,
): ModelSpec {
  switch (kind) {
    case 'kokoro':
      return { kind, modelsDir, voices };
    case 'piper': {
      // A Piper file contains weights and voice, and the catalog has one voice.
      const [voice] = voices;
      const files = resolveModelFiles(modelsDir, VOICE_ENTRIES.piper);
      return { kind, model: files[`${voice}.onnx`] ?? '', settings: files[`${voice}.onnx.json`] ?? '' };
    }
  }
}
