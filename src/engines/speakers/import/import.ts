/** The import step: converts the Resemblyzer checkpoint to an ONNX graph. */

import { join } from 'node:path';
import { importOnce } from '../../../kit/storage/import-cache.ts';
import { catalogEntry, resolveModelFiles } from '../../../models/model-files.ts';
import { speakerGraph } from './graph.ts';
import { TorchCheckpoint } from './torch-checkpoint.ts';

/** Increase with every change of the graph. */
const VERSION = 1;
const ENTRY = 'resemblyzer';
const GRAPH_FILE = 'speakers.onnx';

/** SHA-256 of the weights. Embeddings of different weights cannot be compared. */
export function speakerWeights(): string {
  return catalogEntry(ENTRY).files[0]?.sha256 ?? '';
}

/**
 * Returns the path of the graph. Builds the graph on the first call and caches it on disk.
 * @param onImport is called when the graph is built.
 * @throws Error when the file is missing or is not a checkpoint of this model.
 */
export async function importSpeakers(modelsDir: string, onImport?: () => void): Promise<string> {
  const { 'pretrained.pt': path = '' } = resolveModelFiles(modelsDir, ENTRY);
  const key = { sources: [speakerWeights()], importer: 'speakers', version: VERSION, provider: 'cpu' };
  const build = async (dir: string) => {
    const checkpoint = new TorchCheckpoint(await Bun.file(path).bytes(), 'model_state');
    await Bun.write(join(dir, GRAPH_FILE), speakerGraph(checkpoint));
  };
  const folder = await importOnce(modelsDir, key, build, { onBuild: onImport });
  return join(folder, GRAPH_FILE);
}
