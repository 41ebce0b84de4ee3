/** Paths of model weights. Separate from the engine, because the server must not load a runtime for them. */

import { statSync } from 'node:fs';
import { hubGguf, isHubReference, resolveHubFiles } from '../../../../models/hub-reference.ts';
import { catalog, entriesForEngines, resolveModelFiles } from '../../../../models/model-files.ts';

/** Name of the engine with these weights in the model catalog. */
export function llamaKind(weights: string): string {
  return `llama-${weights}`;
}

/** Names of the weights in the model catalog. */
export const LLAMA_WEIGHTS: readonly string[] = catalog
  .flatMap(({ engines }) => engines)
  .flatMap((kind) => (kind.startsWith(llamaKind('')) ? [kind.slice(llamaKind('').length)] : []));

/**
 * Size of the weights in bytes.
 * @param weights as in {@link llamaFile}.
 * @returns 0 for a file that does not exist; infinity for a file of the hub, whose size is unknown.
 */
export function llamaBytes(weights: string): number {
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
