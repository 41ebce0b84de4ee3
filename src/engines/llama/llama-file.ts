/** Where the weights lie. A file of its own: the serving process asks for it, and must not load a runtime. */

import { statSync } from 'node:fs';
import { catalogEntry, resolveModelFiles } from '../model-files.ts';

/** What the manifest calls the engine with these weights. */
export function llamaKind(weights: string): string {
  return `llama-${weights}`;
}

/**
 * Path of the GGUF file of some weights: a name of the manifest, or the absolute path of a file.
 * @throws Error that says what is missing and the command that brings it.
 */
export function llamaFile(weights: string, modelsDir: string): string {
  if (weights.startsWith('/')) {
    if (statSync(weights, { throwIfNoEntry: false })?.isFile()) return weights;
    throw new Error(`CONFIG: there is no GGUF file ${weights}.`);
  }
  const [file] = catalogEntry(weights).files;
  return resolveModelFiles(modelsDir, weights)[file?.name ?? ''] ?? '';
}
