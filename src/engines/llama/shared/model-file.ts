/** Paths of model weights. Separate from the engine, because the server must not load a runtime for them. */

import { statSync } from 'node:fs';
import { type HubFiles, hubFile, isHubReference, resolveHubFiles } from '../../../models/hub-reference.ts';
import { engineSuffixes, entriesForEngines, resolveModelFiles } from '../../../models/model-files.ts';

const PREFIX = 'llama-';
/** A part of a model that is split into several files. */
const SPLIT_FILE = /-\d{5}-of-\d{5}\.gguf$/;
/** Weights above this size are large ({@link isLarge}). */
const LARGE_BYTES = 256 * 2 ** 20;

/** Name of the engine with these weights in the model catalog. */
export function llamaKind(weights: string): string {
  return `${PREFIX}${weights}`;
}

/** Names of the weights in the model catalog. */
export const LLAMA_WEIGHTS: readonly string[] = engineSuffixes(PREFIX);

/**
 * The file of `hf:owner/repository/file.gguf`; undefined if `weights` is not a reference.
 * @throws Error for an invalid reference.
 */
export function hubGguf(weights: string): HubFiles | undefined {
  if (!isHubReference(weights)) return undefined;
  const { repository, path } = hubFile(weights) ?? {};
  if (repository === undefined || path === undefined || !path.toLowerCase().endsWith('.gguf')) {
    throw new Error('must be hf:owner/repository/file.gguf');
  }
  if (SPLIT_FILE.test(path)) {
    throw new Error('must not be a part of a split model; use a model with one GGUF file');
  }
  return { repository, paths: [path] };
}

/**
 * Whether weights are downloaded and loaded by the first request, so that they neither delay the first start nor occupy memory
 * without being used.
 * @param weights as in {@link llamaFile}.
 */
export function isLarge(weights: string): boolean {
  return llamaBytes(weights) > LARGE_BYTES;
}

/**
 * Size of the weights in bytes.
 * @param weights as in {@link llamaFile}.
 * @returns 0 for a file that does not exist; infinity for a file of the hub, whose size is unknown.
 */
function llamaBytes(weights: string): number {
  if (isHubReference(weights)) return Number.POSITIVE_INFINITY;
  if (weights.startsWith('/')) return statSync(weights, { throwIfNoEntry: false })?.size ?? 0;
  const [entry] = entriesForEngines([llamaKind(weights)]);
  return entry?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
}

/**
 * Path of a GGUF file.
 * @param weights a name of the model catalog, a reference `hf:owner/repository/file.gguf`, or an absolute path.
 * @throws Error with the name of the missing file, and the command that downloads it.
 */
export function llamaFile(weights: string, modelsDir: string): string {
  if (weights.startsWith('/')) {
    if (statSync(weights, { throwIfNoEntry: false })?.isFile()) return weights;
    throw new Error(`CONFIG: GGUF file not found: ${weights}.`);
  }
  const hub = hubGguf(weights);
  if (hub !== undefined) {
    const [path] = Object.values(resolveHubFiles(modelsDir, hub) ?? {});
    if (path !== undefined) return path;
    throw new Error(`The file of '${weights}' is missing. Run \`bun run models fetch ${weights}\`.`);
  }
  const [entry] = entriesForEngines([llamaKind(weights)]);
  const [file] = entry?.files ?? [];
  if (entry === undefined || file === undefined) throw new Error(`CONFIG: unknown weights '${weights}'.`);
  return resolveModelFiles(modelsDir, entry.id)[file.name] ?? '';
}
