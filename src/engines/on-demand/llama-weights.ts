/**
 * Weights that can be downloaded while the service runs: language models, Whisper checkpoints and Piper voices of the hub, a
 * speech model.
 */

import { existsSync } from 'node:fs';
import { fetchEntries } from '../../../models/fetch.ts';
import { fetchHubFiles } from '../../../models/hub.ts';
import { type HubFiles, type HubSettings, hubGguf, resolveHubFiles } from '../../../models/hub-reference.ts';
import { entriesForEngines, resolveModelFiles } from '../../../models/model-files.ts';
import { llamaBytes, llamaFile, llamaKind } from '../llama/shared/model-file.ts';
import type { Weights } from './shared-download.ts';

/**
 * Weights above this size are downloaded and loaded by the first request, so that they delay neither the first start nor occupy
 * memory without being used.
 */
const LARGE_BYTES = 256 * 2 ** 20;

/** @param weights a name of the model catalog, a reference `hf:…`, or an absolute path. */
export function isLarge(weights: string): boolean {
  return llamaBytes(weights) > LARGE_BYTES;
}

/** The files of an engine in the model catalog. */
export function catalogWeights(
  { kind }: { readonly kind: string },
  modelsDir: string,
  hub?: HubSettings,
): Weights {
  const entries = entriesForEngines([kind]);
  return {
    isOnDisk() {
      try {
        for (const { id } of entries) resolveModelFiles(modelsDir, id);
        return true;
      } catch {
        return false;
      }
    },
    async fetch(signal, progress) {
      await fetchEntries(modelsDir, entries, { signal, progress, ...(hub && { hub }) });
    },
  };
}

/** Files of the model hub. */
export function hubWeights(files: HubFiles, modelsDir: string, hub: HubSettings): Weights {
  return {
    isOnDisk: () => resolveHubFiles(modelsDir, files) !== undefined,
    async fetch(signal, progress) {
      await fetchHubFiles(modelsDir, files, { signal, progress, hub });
    },
  };
}

/** The files of language model weights. */
export function llamaWeights(weights: string, modelsDir: string, hub: HubSettings): Weights {
  return {
    isOnDisk() {
      if (weights.startsWith('/')) return existsSync(weights);
      try {
        llamaFile(weights, modelsDir);
        return true;
      } catch {
        return false;
      }
    },
    async fetch(signal, progress) {
      if (weights.startsWith('/')) return;
      const files = hubGguf(weights);
      if (files !== undefined) await fetchHubFiles(modelsDir, files, { signal, progress, hub });
      else await fetchEntries(modelsDir, entriesForEngines([llamaKind(weights)]), { signal, progress, hub });
    },
  };
}
