/** Names of Whisper weights: in the model catalog, and in the model hub. */

import { StartError } from '../../../contract/core/error.ts';
import { type HubFiles, hubRepository, isHubReference } from '../../../models/hub-reference.ts';
import { type CatalogEntry, engineSuffixes, entriesForEngines } from '../../../models/model-files.ts';

const PREFIX = 'whisper-';

/** Files of a CTranslate2 checkpoint that the engine reads. */
const CHECKPOINT_PATHS = ['config.json', 'model.bin', 'tokenizer.json'];

/**
 * Repositories of CTranslate2 checkpoints, by the names of faster-whisper. Without the larger `large` models, whose conversion to
 * ONNX needs too much memory.
 */
const REPOSITORIES: Readonly<Record<string, string>> = {
  tiny: 'Systran/faster-whisper-tiny',
  'base.en': 'Systran/faster-whisper-base.en',
  small: 'Systran/faster-whisper-small',
  'small.en': 'Systran/faster-whisper-small.en',
  medium: 'Systran/faster-whisper-medium',
  'medium.en': 'Systran/faster-whisper-medium.en',
  'large-v3-turbo': 'mobiuslabsgmbh/faster-whisper-large-v3-turbo',
  'distil-small.en': 'Systran/faster-distil-whisper-small.en',
  'distil-medium.en': 'Systran/faster-distil-whisper-medium.en',
  'distil-large-v2': 'Systran/faster-distil-whisper-large-v2',
  'distil-large-v3': 'Systran/faster-distil-whisper-large-v3',
};

/** Names of weights that are downloaded from the hub. */
export const HUB_WHISPER_WEIGHTS: readonly string[] = Object.keys(REPOSITORIES);

/** Name of weights in the manifest and in the pool. */
export function whisperKind(weights: string): string {
  return `${PREFIX}${weights}`;
}

/** Names of the weights in the manifest. */
const WHISPER_WEIGHTS: readonly string[] = engineSuffixes(PREFIX);

/** The manifest entry of weights; undefined for an unknown name. */
export function whisperEntry(weights: string): CatalogEntry | undefined {
  return entriesForEngines([whisperKind(weights)])[0];
}

/**
 * The files of a checkpoint: a name of faster-whisper or `hf:owner/repository`. Undefined for other weights.
 * @throws Error for an invalid reference.
 */
export function hubWhisper(weights: string): HubFiles | undefined {
  const named = REPOSITORIES[weights];
  if (named !== undefined) return { repository: named, paths: CHECKPOINT_PATHS };
  if (!isHubReference(weights)) return undefined;
  const repository = hubRepository(weights);
  if (repository !== undefined) return { repository, paths: CHECKPOINT_PATHS };
  throw new Error(
    `CONFIG: '${weights}' must be hf:owner/repository with a CTranslate2 checkpoint of Whisper.`,
  );
}

/** Accepts any absolute path; the loader checks the folder. @throws StartError for unknown weights. */
export function requireWhisperWeights(weights: string): void {
  const isKnown = WHISPER_WEIGHTS.includes(weights) || hubWhisper(weights) !== undefined;
  if (weights.startsWith('/') || isKnown) return;
  const names = [...WHISPER_WEIGHTS, ...HUB_WHISPER_WEIGHTS].join(', ');
  throw new StartError(
    `CONFIG: unknown weights '${weights}' for whisper. Allowed: ${names}, hf:owner/repository, or the absolute path of a folder.`,
  );
}
