/** Converts the published Kokoro file into optimized graphs, once per machine and kind of arithmetic. */

import { join } from 'node:path';
import type { Arithmetic } from '../../../inference/onnx/convolution-product.ts';
import { restoreFloatLayers } from '../../../inference/onnx/float-layers.ts';
import { DataType, decodeModel, encodeModel, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import { importOnce } from '../../../kit/storage/import-cache.ts';
import { catalogEntry, resolveModelFiles } from '../../../models/model-files.ts';
import { buildAcousticGraphs } from './acoustic-graph.ts';
import { buildGenerator } from './generator-graph.ts';

/** Increment when the graphs change. */
const VERSION = 8;
const OPSETS = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
const IR_VERSION = 9;

/** Paths of the imported graphs. */
export interface KokoroGraphs {
  readonly durations: string;
  readonly acousticModel: string;
  readonly generator: string;
}

/**
 * Paths of the graphs. The first call builds them, which takes a few seconds; later calls find them in the cache.
 * @param onImport is called when the graphs are built.
 * @throws Error when the model file is missing or has an unexpected structure.
 */
export async function importKokoroGraphs(
  modelsDir: string,
  arithmetic: Arithmetic,
  onImport?: () => void,
): Promise<KokoroGraphs> {
  const entry = catalogEntry('kokoro-82m-int8');
  const [file] = entry.files;
  if (!file) throw new Error(`Model catalog entry '${entry.id}' has no files.`);
  const path = resolveModelFiles(modelsDir, entry.id)[file.name] ?? '';
  const key = {
    sources: [file.sha256],
    importer: 'kokoro',
    version: VERSION,
    provider: arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic },
  };
  const build = async (dir: string) => {
    const published = decodeModel(await Bun.file(path).bytes()).graph;
    const write = (name: string, graph: Graph) =>
      Bun.write(
        join(dir, name),
        encodeModel({
          irVersion: IR_VERSION,
          producerName: 'kokoro-import',
          opsetImport: OPSETS,
          graph: withoutInputShapes(graph),
        }),
      );
    const { durations, acoustic } = buildAcousticGraphs(published, arithmetic);
    const restored = (graph: Graph) => (arithmetic === 'float16' ? restoreFloatLayers(graph) : graph);
    await write('durations.onnx', restored(durations));
    await write('front.onnx', restored(acoustic));
    await write('generator.onnx', buildGenerator(published, arithmetic));
  };
  const folder = await importOnce(modelsDir, key, build, { onBuild: onImport });
  return {
    durations: join(folder, 'durations.onnx'),
    acousticModel: join(folder, 'front.onnx'),
    generator: join(folder, 'generator.onnx'),
  };
}

/**
 * Removes the shapes of the inputs, so that the shapes of most values are unknown. For each value of known rank, ONNX Runtime
 * 1.30 searches all earlier values for a buffer to reuse when it loads the graph. It finds none, because the lengths are
 * variable, but the search takes 85 % of the loading time.
 */
function withoutInputShapes(graph: Graph): Graph {
  const input = graph.input.map(({ name, type }) => {
    const elemType = type?.tensorType?.elemType ?? DataType.FLOAT;
    return { name, type: { tensorType: { elemType } } };
  });
  return { ...graph, input };
}
