/**
 * The speaker encoder of Resemblyzer (Wan et al. 2018, "Generalized end-to-end loss for speaker verification") as an ONNX graph:
 * `mel` f32[runs, frames, 40] → three LSTM layers of 256 → the last state through a linear layer, ReLU, length 1 →
 * `embedding` f32[runs, 256].
 */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import { encodeModel } from '../../../inference/onnx/onnx-proto.ts';
import type { TorchCheckpoint } from './torch-checkpoint.ts';

export const MEL_BANDS = 40;
/** Number of elements of an embedding. */
export const EMBEDDING_SIZE = 256;

const STATE_SIZE = 256;
const LAYERS = 3;
const MIN_LENGTH = 1e-6;

/** Builds the graph. @throws Error when the checkpoint is not of this model. */
export function speakerGraph(checkpoint: TorchCheckpoint): Uint8Array {
  const g = new GraphBuilder('speakers');
  // The LSTM operator of ONNX requires [frames, runs, bands].
  let x = g.op('Transpose', [g.input('mel', ['runs', 'frames', MEL_BANDS])], { perm: [1, 0, 2] });
  let last = x;
  for (let layer = 0; layer < LAYERS; layer++) {
    const inputs = layer === 0 ? MEL_BANDS : STATE_SIZE;
    const weight = (name: string, dims: readonly number[]) =>
      inOnnxOrder(checkpoint.tensor(`lstm.${name}_l${layer}`, dims));
    const rows = 4 * STATE_SIZE;
    const bias = new Float32Array(2 * rows);
    bias.set(weight('bias_ih', [rows]));
    bias.set(weight('bias_hh', [rows]), rows);
    const [states = '', final = ''] = g.ops(
      'LSTM',
      [
        x,
        g.floats([1, rows, inputs], weight('weight_ih', [rows, inputs])),
        g.floats([1, rows, STATE_SIZE], weight('weight_hh', [rows, STATE_SIZE])),
        g.floats([1, 2 * rows], bias),
      ],
      2,
      { hidden_size: STATE_SIZE },
    );
    // [frames, 1 direction, runs, 256]
    x = g.op('Squeeze', [states, g.ints(1)]);
    last = g.op('Squeeze', [final, g.ints(0)]);
  }
  const weight = g.floats(
    [EMBEDDING_SIZE, STATE_SIZE],
    checkpoint.tensor('linear.weight', [EMBEDDING_SIZE, STATE_SIZE]),
  );
  const bias = g.floats([EMBEDDING_SIZE], checkpoint.tensor('linear.bias', [EMBEDDING_SIZE]));
  const raw = g.op('Relu', [g.op('Gemm', [last, weight, bias], { transB: 1 })]);
  const length = g.op('ReduceL2', [raw, g.ints(1)], { keepdims: 1 });
  g.output('embedding', g.op('Div', [raw, g.op('Max', [length, g.floats([1], [MIN_LENGTH])])]));
  const opsetImport = [{ version: 20 }];
  return encodeModel({ irVersion: 9, producerName: 'speaker-import', opsetImport, graph: g.build() });
}

/** Reorders gates, each a block of rows, from PyTorch (input, forget, cell, output) to ONNX (input, output, forget, cell). */
function inOnnxOrder(rows: Float32Array): Float32Array {
  const block = rows.length / 4;
  const ordered = new Float32Array(rows.length);
  for (const [to, from] of [0, 3, 1, 2].entries()) {
    ordered.set(rows.subarray(from * block, (from + 1) * block), to * block);
  }
  return ordered;
}
