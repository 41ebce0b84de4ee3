/** The import step: Resemblyzer's checkpoint to an ONNX graph of our own, once. */

import { join } from 'node:path';
import { catalogEntry, resolveModelFiles } from '../../../../models/model-files.ts';
import { importOnce } from '../../cache/import-cache.ts';
import { speakerGraph } from './graph.ts';
import { TorchCheckpoint } from './torch-checkpoint.ts';

/** Raise with every change of the graph. */
const VERSION = 1;
const ENTRY = 'resemblyzer';
const GRAPH_FILE = 'speakers.onnx';

/** SHA-256 of the weights: embeddings of other weights cannot be compared with these. */
export function speakerWeights(): string {
  return catalogEntry(ENTRY).files[0]?.sha256 ?? '';
}

/**
 * Path of the graph; it is built on the first call and found in the cache later.
 * @throws Error when the file is missing or no checkpoint of this model.
 */
export async function importSpeakers(modelsDir: string): Promise<string> {
  const { 'pretrained.pt': path = '' } = resolveModelFiles(modelsDir, ENTRY);
  const key = { sources: [speakerWeights()], importer: 'speakers', version: VERSION, provider: 'cpu' };
  const folder = await importOnce(modelsDir, key, async (dir) => {
    const checkpoint = new TorchCheckpoint(await Bun.file(path).bytes(), 'model_state');
    await Bun.write(join(dir, GRAPH_FILE), speakerGraph(checkpoint));
  });
  return join(folder, GRAPH_FILE);
}
