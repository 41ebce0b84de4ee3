import { existsSync } from 'node:fs';
import type { Weights } from '../../../inference/on-demand/shared-download.ts';
import { catalogWeights, hubWeights } from '../../../inference/on-demand/weights.ts';
import type { HubSettings } from '../../../models/hub-reference.ts';
import { hubGguf, llamaFile, llamaKind } from '../shared/model-file.ts';

/**
 * The file of language model weights.
 * @param weights a name of the model catalog, a reference `hf:…`, or an absolute path.
 */
export function llamaWeights(weights: string, modelsDir: string, hub: HubSettings): Weights {
  if (weights.startsWith('/')) {
    return { isOnDisk: () => existsSync(weights), fetch: async () => undefined };
  }
  const files = hubGguf(weights);
  const { fetch } =
    files === undefined
      ? catalogWeights([llamaKind(weights)], modelsDir, hub)
      : hubWeights(files, modelsDir, hub);
  return {
    // Also false for unknown weights.
    isOnDisk() {
      try {
        llamaFile(weights, modelsDir);
        return true;
      } catch {
        return false;
      }
    },
    fetch,
  };
}
