/**
 * Silero VAD (github.com/snakers4/silero-vad, versions 5 and 6) as a graph of matrix products with one row per stream. The
 * published graph selects the sample rate with `If` nodes and does not batch its convolutions efficiently. This graph uses
 * the weights of the 16 kHz branch:
 *
 * - `audio` f32[rows, 640]: 64 samples before the frame, the frame's 512, 64 samples mirrored at its end;
 * - `hidden`, `cell` f32[rows, 128]: the LSTM's state, zeros at the start of a stream;
 * - → `logit` f32[rows, 1], whose logistic function is the probability of speech, and the state after the
 *   frame, `next_hidden`, `next_cell` f32[rows, 128].
 *
 * Short-time Fourier transform of 4 windows → magnitudes → 4 convolutions with ReLU → LSTM cell → one unit.
 */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import { decodeModel, encodeModel, type Graph, type Tensor } from '../../../inference/onnx/onnx-proto.ts';
import { floatsOf, transposed } from '../../../inference/onnx/tensors.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from './frame.ts';

/** Width of a row of `audio`: {@link CONTEXT_SAMPLES} at the start and as many mirrored ones at the end. */
export const ROW_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES + CONTEXT_SAMPLES;
/** Width of each half of the state (hidden and cell). */
export const STATE_SIZE = 128;

const HOP = 128;
const WINDOW = 256;
const BINS = WINDOW / 2 + 1;
/** Windows in a row of `audio`. */
const WINDOWS = (ROW_SAMPLES - WINDOW) / HOP + 1;
const SAMPLE_RATE_BRANCH = 'then_branch';

/** @throws Error when the file is not a Silero graph of the stateful layout. */
export function batchedSileroGraph(file: Uint8Array): Uint8Array {
  const weights = weightsOf(decodeModel(file).graph);
  const g = new GraphBuilder('silero');
  const audio = g.input('audio', ['rows', ROW_SAMPLES]);
  const hidden = g.input('hidden', ['rows', STATE_SIZE]);
  const cell = g.input('cell', ['rows', STATE_SIZE]);
  const features = encoder(g, magnitudes(g, audio, weights), weights);
  const next = lstmCell(g, features, hidden, cell, weights);
  g.output('next_hidden', next.hidden);
  g.output('next_cell', next.cell);
  const unit = weights('decoder.decoder.2.weight', [1, STATE_SIZE, 1]);
  const product = g.op('MatMul', [g.op('Relu', [next.hidden]), g.floats([STATE_SIZE, 1], unit)]);
  g.output('logit', g.op('Add', [product, g.floats([1], weights('decoder.decoder.2.bias', [1]))]));
  const opsetImport = [{ version: 17 }];
  return encodeModel({ irVersion: 9, producerName: 'voice-service', opsetImport, graph: g.build() });
}

type Weights = (name: string, dims: readonly number[]) => Float32Array;

/** Returns a function that finds a float constant of the 16 kHz branch by the end of its name and checks its shape. */
function weightsOf(graph: Graph): Weights {
  const branch = graph.node
    .find((node) => node.opType === 'If')
    ?.attribute.find(({ name }) => name === SAMPLE_RATE_BRANCH)?.g;
  const constants = new Map<string, Tensor>();
  for (const node of branch?.node ?? []) {
    const tensor = node.opType === 'Constant' ? node.attribute[0]?.t : undefined;
    if (tensor) constants.set(node.output[0]?.split('__').at(-1) ?? '', tensor);
  }
  return (name, dims) => {
    const tensor = constants.get(name);
    if (tensor?.dims.join() !== dims.join()) {
      throw new Error(`the graph has no ${name} of shape [${dims}]: not a Silero model of version 5 or 6`);
    }
    return floatsOf(tensor);
  };
}

/** [rows, 640] → [rows, 4, 129] */
function magnitudes(g: GraphBuilder, audio: string, weights: Weights): string {
  // Windows overlap by one hop, so each window is two adjacent hops.
  const hops = g.op('Reshape', [audio, g.ints(-1, WINDOWS + 1, HOP)]);
  const windows = g.op('Concat', [steps(g, hops, 0, WINDOWS), steps(g, hops, 1, WINDOWS + 1)], { axis: 2 });
  const basis = weights('stft.forward_basis_buffer', [2 * BINS, 1, WINDOW]);
  const spectrum = g.op('MatMul', [
    windows,
    g.floats([WINDOW, 2 * BINS], transposed(basis, 2 * BINS, WINDOW)),
  ]);
  const [real = '', imaginary = ''] = g.ops('Split', [g.op('Mul', [spectrum, spectrum])], 2, { axis: 2 });
  return g.op('Sqrt', [g.op('Add', [real, imaginary])]);
}

/** [rows, 4, 129] → [rows, 128]. Convolutions with 3 taps; taps that would only read padding are omitted. */
function encoder(g: GraphBuilder, x: string, weights: Weights): string {
  const layer = (i: number, inputs: number, outputs: number, taps: readonly number[], columns: string) => {
    const weight = weights(`encoder.${i}.reparam_conv.weight`, [outputs, inputs, 3]);
    const matrix = new Float32Array(taps.length * inputs * outputs);
    for (const [position, tap] of taps.entries()) {
      for (let input = 0; input < inputs; input++) {
        for (let output = 0; output < outputs; output++) {
          matrix[(position * inputs + input) * outputs + output] =
            weight[(output * inputs + input) * 3 + tap] ?? 0;
        }
      }
    }
    const product = g.op('MatMul', [columns, g.floats([taps.length * inputs, outputs], matrix)]);
    const bias = g.floats([outputs], weights(`encoder.${i}.reparam_conv.bias`, [outputs]));
    return g.op('Relu', [g.op('Add', [product, bias])]);
  };
  const sideBySide = (...views: string[]) => g.op('Concat', views, { axis: 2 });
  // Stride 1 over 4 steps with one step of zeros at both ends.
  const first = g.op('Pad', [x, g.ints(0, 1, 0, 0, 1, 0)]);
  const a = layer(
    0,
    BINS,
    STATE_SIZE,
    [0, 1, 2],
    sideBySide(steps(g, first, 0, 4), steps(g, first, 1, 5), steps(g, first, 2, 6)),
  );
  // Stride 2 over 4 steps: 2 remain, and the padding at the end is not read.
  const second = g.op('Pad', [a, g.ints(0, 1, 0, 0, 0, 0)]);
  const b = layer(
    1,
    STATE_SIZE,
    64,
    [0, 1, 2],
    sideBySide(steps(g, second, 0, 3, 2), steps(g, second, 1, 4, 2), steps(g, second, 2, 5, 2)),
  );
  // Stride 2 over 2 steps: one remains, whose first tap reads padding. Over one step, only the middle tap reads data.
  const c = layer(2, 64, 64, [1, 2], g.op('Reshape', [b, g.ints(-1, STATE_SIZE)]));
  return layer(3, 64, STATE_SIZE, [1], c);
}

/** One step of an LSTM with the gates in the order of PyTorch: input, forget, cell, output. */
function lstmCell(g: GraphBuilder, x: string, hidden: string, cell: string, weights: Weights) {
  const rows = 4 * STATE_SIZE;
  const matrix = new Float32Array(2 * STATE_SIZE * rows);
  matrix.set(transposed(weights('decoder.rnn.weight_ih', [rows, STATE_SIZE]), rows, STATE_SIZE));
  matrix.set(
    transposed(weights('decoder.rnn.weight_hh', [rows, STATE_SIZE]), rows, STATE_SIZE),
    STATE_SIZE * rows,
  );
  const ofHidden = weights('decoder.rnn.bias_hh', [rows]);
  const bias = weights('decoder.rnn.bias_ih', [rows]).map((value, i) => value + (ofHidden[i] ?? 0));
  const both = g.op('Concat', [x, hidden], { axis: 1 });
  const product = g.op('MatMul', [both, g.floats([2 * STATE_SIZE, rows], matrix)]);
  const gates = g.ops('Split', [g.op('Add', [product, g.floats([rows], bias)])], 4, { axis: 1 });
  const [input = '', forget = '', candidate = '', output = ''] = gates;
  const retained = g.op('Mul', [g.op('Sigmoid', [forget]), cell]);
  const added = g.op('Mul', [g.op('Sigmoid', [input]), g.op('Tanh', [candidate])]);
  const next = g.op('Add', [retained, added]);
  return { cell: next, hidden: g.op('Mul', [g.op('Sigmoid', [output]), g.op('Tanh', [next])]) };
}

/** `x[:, start:end:stride]` */
function steps(g: GraphBuilder, x: string, start: number, end: number, stride = 1): string {
  return g.op('Slice', [x, g.ints(start), g.ints(end), g.ints(1), g.ints(stride)]);
}
