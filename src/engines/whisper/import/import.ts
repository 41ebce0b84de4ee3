/** The import step: converts a CTranslate2 Whisper checkpoint to ONNX graphs, once per execution provider. */

import { join } from 'node:path';
import type { LinearArithmetic } from '../../../inference/onnx/linear-layer.ts';
import { encodeModel, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import { openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { type ImportKey, importOnce } from '../../../kit/storage/import-cache.ts';
import type { WhisperShape } from '../shared/graphs.ts';
import { FULL_FRAMES } from '../shared/log-mel.ts';
import { alignerGraph } from './aligner-graph.ts';
import { Ct2Checkpoint } from './ct2-checkpoint.ts';
import { decoderGraph } from './decoder-graph.ts';
import { type CachedSilence, encoderGraph, restGraph, type SilentRest } from './encoder-graph.ts';
import { type WhisperWeights, whisperWeights } from './weights.ts';

/** Increase with every change of the graphs. */
const VERSION = 1;
const OPSETS = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
const IR_VERSION = 9;

/** Mel value of the silence after an utterance, tuned for the lowest word error rate. */
const SILENCE = -0.6;
/** Number of positions per cached position of the silence. */
const STRIDE = 10;

/** An ONNX file has at most 2 GiB; a part is left for the other tensors. */
const MAX_FLOAT_BYTES = 1.9 * 2 ** 30;

/** Paths of the graphs, and their shape. */
export interface ImportedWhisper {
  readonly encoder: string;
  readonly decoder: string;
  readonly aligner: string;
  readonly shape: WhisperShape;
}

export interface WhisperSource {
  /** Path of `model.bin`. */
  readonly checkpoint: string;
  /** SHA-256 of that file. */
  readonly sha256: string;
  /** Decoder layer and index of each alignment head, from `config.json` of the model. */
  readonly alignmentHeads: readonly (readonly [layer: number, head: number])[] | undefined;
}

/**
 * Returns the paths of the graphs. Builds them on the first call (a few seconds) and caches them on disk.
 * @param onImport is called when the graphs are built.
 * @throws Error when the file is missing or is not a Whisper checkpoint.
 */
export async function importWhisper(
  modelsDir: string,
  source: WhisperSource,
  arithmetic: LinearArithmetic,
  onImport?: () => void,
): Promise<ImportedWhisper> {
  const key: ImportKey = {
    sources: [source.sha256],
    importer: 'whisper',
    version: VERSION,
    provider: arithmetic === 'float16' ? 'cuda' : 'cpu',
    options: { arithmetic, heads: JSON.stringify(source.alignmentHeads ?? null) },
  };
  const build = async (dir: string) => {
    const weights = whisperWeights(new Ct2Checkpoint(await Bun.file(source.checkpoint).bytes()));
    const rest = await silentRest(weights, arithmetic);
    const heads = source.alignmentHeads ?? upperHalf(weights);
    await Bun.write(join(dir, 'encoder.onnx'), onnx(encoderGraph(weights, rest, arithmetic)));
    await Bun.write(join(dir, 'decoder.onnx'), onnx(decoderGraph(weights, arithmetic)));
    await Bun.write(join(dir, 'aligner.onnx'), onnx(alignerGraph(weights, heads, arithmetic)));
    await Bun.write(join(dir, 'shape.json'), JSON.stringify(shapeOf(weights)));
  };
  const folder = await importOnce(modelsDir, key, build, { onBuild: onImport });
  return {
    encoder: join(folder, 'encoder.onnx'),
    decoder: join(folder, 'decoder.onnx'),
    aligner: join(folder, 'aligner.onnx'),
    shape: (await Bun.file(join(folder, 'shape.json')).json()) as WhisperShape,
  };
}

function onnx(graph: Graph): Uint8Array {
  return encodeModel({ irVersion: IR_VERSION, producerName: 'whisper-import', opsetImport: OPSETS, graph });
}

function shapeOf({ width, heads, decoder, melBands, textPositions }: WhisperWeights): WhisperShape {
  return { width, heads, decoderLayers: decoder.length, melBands, textPositions };
}

/** Default alignment heads: all heads of the upper half of the layers (openai/whisper, model.py). */
function upperHalf({ decoder, heads }: WhisperWeights): [number, number][] {
  const layers = [...decoder.keys()].slice(Math.floor(decoder.length / 2));
  return layers.flatMap((layer) =>
    Array.from({ length: heads }, (_, head): [number, number] => [layer, head]),
  );
}

/**
 * Encodes a window of silence and keeps every {@link STRIDE}-th position of it. In float32, except for large encoders, whose
 * weights would exceed the maximum size of an ONNX file.
 */
async function silentRest(weights: WhisperWeights, arithmetic: LinearArithmetic): Promise<SilentRest> {
  const runtime: RuntimeOptions = { provider: 'cpu', threads: 2 };
  const isLarge = restBytes(weights) > MAX_FLOAT_BYTES;
  const graph = await openGraph(onnx(restGraph(weights, isLarge ? arithmetic : 'float32')), runtime);
  try {
    const names = [
      ...weights.encoder.keys().flatMap((i) => [`key_${i}`, `value_${i}`]),
      ...weights.decoder.keys().flatMap((i) => [`cross_key_${i}`, `cross_value_${i}`]),
    ];
    const dims = [1, weights.melBands, FULL_FRAMES];
    const data = new Float32Array(weights.melBands * FULL_FRAMES).fill(SILENCE);
    const outputs = await graph.run({ mel: { type: 'float32', dims, data } }, names);
    const sampled = (name: string) => everyNth(outputs[name]?.data ?? new Float32Array(0), weights.width);
    const sides = (prefix: string, i: number): CachedSilence => ({
      keys: sampled(`${prefix}key_${i}`),
      values: sampled(`${prefix}value_${i}`),
    });
    return {
      stride: STRIDE,
      encoder: weights.encoder.map((_, i) => sides('', i)),
      cross: weights.decoder.map((_, i) => sides('cross_', i)),
    };
  } finally {
    await graph.close();
  }
}

/** Size of the linear layers of {@link restGraph} in float32: twelve matrices per encoder layer, two per decoder layer. */
function restBytes({ width, encoder, decoder }: WhisperWeights): number {
  return (12 * encoder.length + 2 * decoder.length) * width * width * Float32Array.BYTES_PER_ELEMENT;
}

/** The middle of every {@link STRIDE} rows of a matrix that has `width` columns. */
function everyNth(matrix: Float32Array, width: number): Float32Array {
  const count = matrix.length / width / STRIDE;
  const result = new Float32Array(count * width);
  for (let i = 0; i < count; i++) {
    const row = i * STRIDE + STRIDE / 2;
    result.set(matrix.subarray(row * width, (row + 1) * width), i * width);
  }
  return result;
}
