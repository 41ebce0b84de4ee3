/** Where the weights lie. A file of its own: the serving process asks for it, and must not load a runtime. */

import { statSync } from 'node:fs';
import { catalog, entriesForEngines, resolveModelFiles } from '../../../../models/model-files.ts';

/** What the manifest calls the engine with these weights. */
export function llamaKind(weights: string): string {
  return `llama-${weights}`;
}

/** Names of the weights that the manifest brings. */
export const LLAMA_WEIGHTS: readonly string[] = catalog
  .flatMap(({ engines }) => engines)
  .flatMap((kind) => (kind.startsWith(llamaKind('')) ? [kind.slice(llamaKind('').length)] : []));

/**
 * Path of the GGUF file of some weights: a name of the manifest, or the absolute path of a file.
 * @throws Error that says what is missing and the command that brings it.
 */
export function llamaFile(weights: string, modelsDir: string): string {
  if (weights.startsWith('/')) {
    if (statSync(weights, { throwIfNoEntry: false })?.isFile()) return weights;
    throw new Error(`CONFIG: there is no GGUF file ${weights}.`);
  }
  const [entry] = entriesForEngines([llamaKind(weights)]);
  const [file] = entry?.files ?? [];
  if (entry === undefined || file === undefined)
    throw new Error(`CONFIG: there are no weights '${weights}'.`);
  return resolveModelFiles(modelsDir, entry.id)[file.name] ?? '';
}
