/** Weights that can be downloaded while the service runs. */

import { fetchEntries } from '../../models/fetch.ts';
import { fetchHubFiles } from '../../models/hub.ts';
import { type HubFiles, type HubSettings, resolveHubFiles } from '../../models/hub-reference.ts';
import { entriesForEngines, resolveModelFiles } from '../../models/model-files.ts';
import type { Weights } from './shared-download.ts';

/** The files of engines in the model catalog. */
export function catalogWeights(engines: readonly string[], modelsDir: string, hub: HubSettings): Weights {
  const entries = entriesForEngines(engines);
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
      await fetchEntries(modelsDir, entries, { signal, progress, hub });
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
