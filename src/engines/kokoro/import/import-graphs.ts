/** Turns the shipped Kokoro file into graphs of our own, once for each machine's kind of arithmetic. */

import { join } from 'node:path';
import { catalogEntry, resolveModelFiles } from '../../../../models/model-files.ts';
import { imported } from '../../cache/import-cache.ts';
import type { Arithmetic } from '../../onnx/convolution-product.ts';
import { restoreFloatLayers } from '../../onnx/float-layers.ts';
import { decodeModel, encodeModel, type Graph } from '../../onnx/onnx-proto.ts';
import { buildFront } from './front-graph.ts';
import { buildGenerator } from './generator-graph.ts';

/** Raise with every change of the graphs. */
const VERSION = 5;
const OPSETS = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
const IR_VERSION = 9;

/** Paths of the imported graphs. */
export interface KokoroGraphs {
  readonly front: string;
  readonly generator: string;
}

/**
 * Paths of the graphs; they are built on the first call (a few seconds) and found in the cache later.
 * @throws Error when the model file is missing, or is not the one that the importer knows.
 */
export async function importKokoro(modelsDir: string, arithmetic: Arithmetic): Promise<KokoroGraphs> {
  const entry = catalogEntry('kokoro-82m-int8');
  const [file] = entry.files;
  if (!file) throw new Error(`Model entry ${entry.id} lists no file.`);
  const path = resolveModelFiles(modelsDir, entry.id)[file.name] ?? '';
  const key = {
    sources: [file.sha256],
    importer: 'kokoro',
    version: VERSION,
    provider: arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic },
  };
  const folder = await imported(modelsDir, key, async (dir) => {
    const shipped = decodeModel(await Bun.file(path).bytes()).graph;
    const write = (name: string, graph: Graph) =>
      Bun.write(
        join(dir, name),
        encodeModel({ irVersion: IR_VERSION, producerName: 'kokoro-import', opsetImport: OPSETS, graph }),
      );
    const front = buildFront(shipped, arithmetic);
    await write('front.onnx', arithmetic === 'float16' ? restoreFloatLayers(front) : front);
    await write('generator.onnx', buildGenerator(shipped, arithmetic));
  });
  return {
    front: join(folder, 'front.onnx'),
    generator: join(folder, 'generator.onnx'),
  };
}
