/** Language models on llama.cpp. */

import { StartError } from '../../contract/core/error.ts';
import { defineFamily, type NeededFiles } from '../family.ts';
import { type LlamaModelSettings, LlamaTable, parseLlama } from './settings.ts';
import { readGgufMetadata } from './shared/gguf-metadata.ts';
import { kvCacheBytes } from './shared/kv-cache.ts';
import { hubGguf, isLarge, LLAMA_WEIGHTS, llamaFile, llamaKind } from './shared/model-file.ts';

export const llama = defineFamily({
  kind: 'llama',
  task: 'chat',
  schema: LlamaTable,
  parse: parseLlama,
  files: ({ weights }: LlamaModelSettings): NeededFiles => {
    requireWeights(weights);
    const hub = hubGguf(weights);
    const isOutside = weights.startsWith('/') || hub !== undefined;
    return { catalog: [llamaKind(weights)], outside: isOutside ? { weights, hub } : undefined };
  },
  isLoadedOnDemand: ({ weights }) => isLarge(weights),
  /** The weights, and the key-value cache if the file is on disk. */
  async memory({ weights, contextTokens, slots }, bytes, modelsDir) {
    try {
      const metadata = await readGgufMetadata(llamaFile(weights, modelsDir));
      const cacheBytes = kvCacheBytes(metadata, contextTokens, slots);
      return cacheBytes === undefined ? [bytes] : [bytes, cacheBytes];
    } catch {
      // Not on disk, or damaged.
      return [bytes];
    }
  },
  open: async (models, host) => (await import('./open.ts')).openLlamaModels(models, host),
});

/** Accepts any absolute path; the loader checks the file. */
function requireWeights(weights: string): void {
  const isKnown = LLAMA_WEIGHTS.includes(weights) || hubGguf(weights) !== undefined;
  if (weights.startsWith('/') || isKnown) return;
  throw new StartError(
    `CONFIG: unknown weights '${weights}' for llama. Allowed: ${LLAMA_WEIGHTS.join(', ')}, hf:owner/repository/file.gguf, or the absolute path of a GGUF file.`,
  );
}
