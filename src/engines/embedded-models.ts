/** What the models of CONFIG mean to the pool and to the cache of model files. */

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
import { LLAMA_WEIGHTS, llamaKind } from './llama/shared/model-file.ts';
import type { ModelSpec } from './pool/model-spec.ts';

/** Name in the pool. Ids that differ in their voice only share the weights, and so the name. */
export function poolModel(
  settings: EmbeddedTtsSettings | EmbeddedSttSettings | EmbeddedEmbedSettings,
): string {
  return settings.kind === 'whisper' ? whisperKind(settings.weights) : settings.kind;
}

/**
 * One spec for each name in the pool; a kind of voices with every voice that CONFIG names.
 * @throws Error for a voice or weights that do not exist, or a missing file.
 */
export function embeddedSpecs(
  { tts, stt, embed }: Omit<ConfiguredModels, 'text'>,
  modelsDir: string,
): Readonly<Record<string, ModelSpec>> {
  const speaking = [...tts.values()].filter((settings) => settings.kind !== 'upstream');
  const hearing = [...stt.values()].filter((settings) => settings.kind !== 'upstream');
  for (const settings of speaking) requireVoice(settings);
  for (const settings of hearing) requireWeights(settings);
  const specs: Record<string, ModelSpec> = {};
  for (const [kind, of] of Map.groupBy(speaking, (settings) => settings.kind)) {
    specs[kind] = voicesSpec(kind, [...new Set(of.map(({ voice }) => voice))], modelsDir);
  }
  for (const settings of hearing) specs[poolModel(settings)] = { ...settings, modelsDir };
  if (embed.values().some(({ kind }) => kind === 'minilm')) specs.minilm = minilmSpec(modelsDir);
  return specs;
}

/**
 * Entries of the manifest that the models need, with the detector of voice activity.
 * @param more engines whose entries are wanted as well.
 * @throws StartError for weights that do not exist.
 */
export function entriesForModels(
  { tts, stt, text, embed }: ConfiguredModels,
  more: readonly string[] = [],
): CatalogEntry[] {
  const pooled = [...tts.values(), ...stt.values(), ...embed.values()];
  const embedded = pooled.filter((settings) => settings.kind !== 'upstream');
  for (const settings of embedded) if (settings.kind === 'whisper') requireWeights(settings);
  const writing = [...text.values()].filter((settings) => settings.kind === 'llama');
  for (const settings of writing) requireLlamaWeights(settings);
  const kinds = [...embedded.map(poolModel), ...writing.map(({ weights }) => llamaKind(weights))];
  return entriesForEngines([...kinds, 'silero', ...more]);
}

/** Kinds of models that loaded plugins need whatever CONFIG says. @param plugins undefined: all. */
export function enginesOfPlugins(plugins: readonly string[] | undefined): string[] {
  return plugins === undefined || plugins.includes('voices') ? ['resemblyzer'] : [];
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

/** A path is left to what reads the folder. */
function requireWeights({ weights }: EmbeddedSttSettings): void {
  if (weights.startsWith('/') || WHISPER_WEIGHTS.includes(weights)) return;
  throw new StartError(
    `CONFIG: '${weights}' are no weights of whisper; allowed: ${WHISPER_WEIGHTS.join(', ')} and the absolute path of a folder.`,
  );
}

/** A path is left to what opens the file. */
function requireLlamaWeights({ weights }: EmbeddedTextSettings): void {
  if (weights.startsWith('/') || LLAMA_WEIGHTS.includes(weights)) return;
  throw new StartError(
    `CONFIG: '${weights}' are no weights of llama; allowed: ${LLAMA_WEIGHTS.join(', ')} and the absolute path of a GGUF file.`,
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
      // Weights and voice are one file, and the catalog lists one.
      const [voice] = voices;
      const files = resolveModelFiles(modelsDir, VOICE_ENTRIES.piper);
      return { kind, model: files[`${voice}.onnx`] ?? '', settings: files[`${voice}.onnx.json`] ?? '' };
    }
  }
}
