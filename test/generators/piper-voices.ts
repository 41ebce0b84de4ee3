import { readFile } from 'node:fs/promises';
import { makeNode } from '../../src/inference/onnx/graph-builder.ts';
import { DataType, decodeModel, encodeModel, type Node } from '../../src/inference/onnx/onnx-proto.ts';
import { floatTensor } from '../../src/inference/onnx/tensors.ts';
import { resolveModelFiles } from '../../src/models/model-files.ts';
import type { HubFile } from '../doubles/hub-server.ts';

/** Piper voices made of the voice of the catalog, because the hub of real ones cannot be reached by tests. */

export interface PiperFiles {
  readonly graph: Uint8Array;
  /** Content of `*.onnx.json`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The voice of the catalog, with some of its settings replaced. */
export async function piperFiles(
  modelsDir: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<PiperFiles> {
  const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
  const own: unknown = JSON.parse(await readFile(files['en_US-joe-medium.onnx.json'] ?? '', 'utf8'));
  const graph = await readFile(files['en_US-joe-medium.onnx'] ?? '');
  return { graph, settings: Object.assign({}, own, settings) };
}

/**
 * Adds the input `sid` of voices with several speakers. The speakers differ in what both halves of the graph get from it: the
 * latent and the volume.
 * @param volumes of the speakers.
 */
export function withSpeakers(graph: Uint8Array, volumes: readonly number[]): Uint8Array {
  const model = decodeModel(graph);
  const [output] = model.graph.output;
  const audio = output?.name ?? '';
  const ofSpeaker = (table: string, value: string, scaled: string): Node[] => [
    makeNode('Gather', [table, 'sid'], [`${scaled}_factor`], { axis: 0 }),
    makeNode('Mul', [value, `${scaled}_factor`], [scaled]),
  ];
  const node = renamed(model.graph.node).flatMap((each): Node[] => {
    if (each.name === '/dec/conv_pre/Conv') {
      const [latent = '', ...weights] = each.input;
      return [
        ...ofSpeaker('latents', latent, 'of_speaker'),
        Object.assign({}, each, { input: ['of_speaker', ...weights] }),
      ];
    }
    if (!each.output.includes(audio)) return [each];
    return [
      Object.assign({}, each, { output: ['one_speaker'] }),
      ...ofSpeaker('volumes', 'one_speaker', audio),
    ];
  });
  const table = (name: string, values: readonly number[]) =>
    floatTensor(name, [values.length, 1, 1], Float32Array.from(values));
  const sid = {
    name: 'sid',
    type: { tensorType: { elemType: DataType.INT64, shape: { dim: [{ dimValue: 1 }] } } },
  };
  const initializer = [
    ...model.graph.initializer.map((each) =>
      each.name === 'sid' ? Object.assign({}, each, { name: CONSTANT }) : each,
    ),
    table('volumes', volumes),
    table(
      'latents',
      volumes.map((_, i) => 1 + i / 100),
    ),
  ];
  const input = [...model.graph.input, sid];
  return encodeModel(
    Object.assign({}, model, { graph: Object.assign({}, model.graph, { node, initializer, input }) }),
  );
}

/** The exporter has named a constant of this graph `sid`. */
const CONSTANT = 'constant';

function renamed(nodes: readonly Node[]): Node[] {
  return nodes.map((each) =>
    Object.assign({}, each, { input: each.input.map((name) => (name === 'sid' ? CONSTANT : name)) }),
  );
}

/** The files of a voice on the hub: `de/de_DE/thorsten/medium/de_DE-thorsten-medium.onnx` and others. */
export function onPiperHub(
  voice: string,
  { graph, settings }: PiperFiles,
  card?: string,
): Readonly<Record<string, HubFile>> {
  const [locale = '', speaker = '', quality = ''] = voice.split('-');
  const folder = `rhasspy/piper-voices/resolve/main/${locale.split('_')[0]}/${locale}/${speaker}/${quality}`;
  return {
    [`${folder}/${voice}.onnx`]: { bytes: graph, isLarge: true },
    [`${folder}/${voice}.onnx.json`]: { bytes: Buffer.from(JSON.stringify(settings)), isLarge: false },
    ...(card !== undefined && { [`${folder}/MODEL_CARD`]: { bytes: Buffer.from(card), isLarge: false } }),
  };
}
