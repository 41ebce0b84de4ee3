/**
 * Kokoro's acoustic model: the part of the published graph that is computed once per utterance. It is divided where the
 * durations of the tokens are predicted, so that the caller decides how they follow the speed. Slow operators are
 * replaced: integer convolutions by integer matrix products, and the STFT of the harmonic source (a naive loop in ONNX
 * Runtime) by a convolution. For a GPU, the remaining convolutions become products.
 */

import { type Arithmetic, convolutionProduct } from '../../../inference/onnx/convolution-product.ts';
import { GraphBuilder, makeNode } from '../../../inference/onnx/graph-builder.ts';
import type { Graph, Node } from '../../../inference/onnx/onnx-proto.ts';
import { GraphIndex, readQuantizedLayer, replaceNodes } from '../../../inference/onnx/rewrite.ts';
import { dequantize, floatsOf, floatTensor } from '../../../inference/onnx/tensors.ts';
import { normSlots } from './generator-graph.ts';
import { doubledRate, halvedRate, stridedProduct } from './gpu-layers.ts';

const GENERATOR = '/decoder/decoder/generator/';
/** Predicted frames of each token at speed 1, not rounded, [1, n]. */
const PREDICTED = '/encoder/predictor/ReduceSum_output_0';
/** The tokens in their context, from which the durations and then pitch and energy are predicted, [1, n, 640]. */
const ENCODING = '/encoder/predictor/text_encoder/Concat_4_output_0';
/** Frames of each token, integers of at least 1, [1, n]. The published graph divides by the speed and rounds. */
const DURATIONS = '/encoder/Clip_output_0';
/** Output of the decoder and input of the generator, [1, 512, 2T]. */
const HIDDEN = '/decoder/decoder/decode.3/Div_4_output_0';
/** Predicted pitch in Hz, [1, 2T]; below 10 Hz the source is noise. */
const PITCH = '/encoder/Reshape_output_0';
/** Magnitude and phase of the harmonic source, [1, 22, 120T + 1]. */
const SOURCE = `${GENERATOR}Concat_3_output_0`;

/** The two graphs that are computed once per utterance. */
export interface AcousticGraphs {
  /** Inputs: `tokens` int64 [1, n] and `style` [1, 256]. Outputs: `predicted` [1, n] and `encoding` [1, n, 640]. */
  readonly durations: Graph;
  /**
   * Inputs: `tokens` and `style`, `encoding` of the first graph, `durations` [1, n], the frames of each token, and
   * `pitch_scale` [1], a factor on the predicted pitch.
   * Outputs for an utterance of T text frames (25 ms each): `hidden` [1, 2T, 512], `source` [1, 120T + 1, 22], `affine`
   * [1, 2 x channels of all norms] with `gain - 1` and offset in the order of {@link normSlots}, and `pitch` (Hz) and
   * `energy` (log) [1, 2T].
   */
  readonly acoustic: Graph;
}

/** Builds both graphs. */
export function buildAcousticGraphs(published: Graph, arithmetic: Arithmetic): AcousticGraphs {
  const index = new GraphIndex(published);
  const optimized = (graph: Graph, outputs: readonly { name: string; value: string }[]) =>
    replaceNodes(graph, outputs, (node) => {
      if (node.opType === 'STFT') return stftAsConvolution(index, node, arithmetic);
      if (node.opType === 'ConvTranspose' && arithmetic === 'float16') return doubledRate(index, node);
      if (node.opType !== 'Mul') return undefined;
      const convolution = integerConvolutionBehind(index, node);
      return convolution && convolutionAsProduct(index, convolution, arithmetic);
    });
  return {
    durations: optimized({ ...published, name: 'kokoro-durations' }, [
      { name: 'predicted', value: PREDICTED },
      { name: 'encoding', value: ENCODING },
    ]),
    acoustic: optimized(withInputs(published), [
      { name: 'hidden', value: 'hidden_by_time' },
      { name: 'source', value: 'source_by_time' },
      { name: 'affine', value: 'affine_of_norms' },
      { name: 'pitch', value: PITCH },
      { name: 'energy', value: '/encoder/Reshape_1_output_0' },
    ]),
  };
}

/** The published graph with inputs in place of the encoding and the durations, a factor on the pitch, and its outputs. */
function withInputs(published: Graph): Graph {
  const inputs = new GraphBuilder('inputs');
  inputs.alias(ENCODING, inputs.input('encoding', [1, 'n', 640]));
  inputs.alias(DURATIONS, inputs.input('durations', [1, 'n']));
  const unscaled = `${PITCH}_unscaled`;
  const scaled = makeNode('Mul', [unscaled, inputs.input('pitch_scale', [1])], [PITCH]);
  const ends = new GraphBuilder('ends', 'ends_');
  const time = { perm: [0, 2, 1] };
  ends.alias('hidden_by_time', ends.op('Transpose', [HIDDEN], time));
  ends.alias('source_by_time', ends.op('Transpose', [SOURCE], time));
  const affines = normSlots().map((slot) => `${GENERATOR}${slot.path}/fc/Gemm_output_0`);
  ends.alias('affine_of_norms', ends.op('Concat', affines, { axis: 1 }));
  const [head, tail] = [inputs.build(), ends.build()];
  const replaced = new Set([ENCODING, DURATIONS]);
  const nodes = published.node
    .filter((node) => !node.output.some((name) => replaced.has(name)))
    .map((node) => ({
      ...node,
      output: node.output.map((name) => (name === PITCH ? unscaled : name)),
    }));
  return {
    ...published,
    name: 'kokoro-front',
    input: [...published.input, ...head.input],
    node: [...head.node, ...nodes, scaled, ...tail.node],
    initializer: [...published.initializer, ...tail.initializer],
  };
}

/** The ConvInteger whose dequantization ends in this Mul, if there is one. */
function integerConvolutionBehind(index: GraphIndex, rescale: Node): Node | undefined {
  let node = index.producerIfAny(rescale.input[0] ?? '');
  if (node?.opType !== 'Cast') return undefined;
  node = index.producerIfAny(node.input[0] ?? '');
  if (node?.opType === 'Add') node = index.producerIfAny(node.input[0] ?? '');
  return node?.opType === 'ConvInteger' ? node : undefined;
}

/** Replaces a ConvInteger and its dequantization; the last value keeps its name. */
function convolutionAsProduct(index: GraphIndex, node: Node, arithmetic: Arithmetic) {
  const layer = readQuantizedLayer(index, node);
  const ints = (name: string) => node.attribute.find((a) => a.name === name)?.ints ?? [];
  const [outputs = 0, inputs = 0] = layer.weight.dims;
  const g = new GraphBuilder('layer', `${layer.output}_`);
  if (ints('strides')[0] === 1 && inputs > 1) {
    const x = g.op('Transpose', [layer.input], { perm: [0, 2, 1] });
    const y = convolutionProduct(g, x, layer, ints('dilations')[0] ?? 1, arithmetic);
    g.alias(layer.output, g.op('Transpose', [y], { perm: [0, 2, 1] }));
    return g.build();
  }
  // The two single-channel convolutions that halve the rate of pitch and energy are small, so they use float arithmetic.
  const values = dequantize(layer.weight, layer.scale, layer.zeroPoint, layer.channelAxis);
  if (arithmetic === 'float16') return halvedRate(layer.input, layer.output, values, layer.bias?.[0] ?? 0);
  const weight = floatTensor(`${layer.output}_weight`, layer.weight.dims, values);
  const bias = floatTensor(`${layer.output}_bias`, [outputs], layer.bias ?? new Float32Array(outputs));
  const float: Node = {
    ...makeNode('Conv', [layer.input, weight.name, bias.name], [layer.output]),
    attribute: node.attribute,
  };
  return { node: [float], initializer: [weight, bias] };
}

/**
 * STFT [1, samples] → [1, frames, 11, 2] as a strided convolution with windowed cosines and sines.
 * The imaginary part of the first and last bin of a real signal is zero. When the real part is negative, the sign of that
 * zero decides between a phase of +π and -π. The model was trained with +π (torch.angle of +0); with -π the speech has a
 * DC offset. A negligible bias makes the sign deterministic.
 */
function stftAsConvolution(index: GraphIndex, node: Node, arithmetic: Arithmetic) {
  const window = floatsOf(index.initializer(node.input[2]));
  const size = window.length;
  const bins = size / 2 + 1;
  const hop = 5;
  const basis = new Float32Array(bins * 2 * size);
  for (let bin = 0; bin < bins; bin++) {
    for (let n = 0; n < size; n++) {
      const angle = (2 * Math.PI * bin * n) / size;
      basis[2 * bin * size + n] = (window[n] ?? 0) * Math.cos(angle);
      // sin(π n) is zero, but floating-point arithmetic gives a small nonzero value.
      const sine = 2 * bin === size ? 0 : Math.sin(angle);
      basis[(2 * bin + 1) * size + n] = -(window[n] ?? 0) * sine;
    }
  }
  const bias = new Float32Array(2 * bins);
  bias[1] = bias[2 * bins - 1] = 1e-30;
  const output = node.output[0] ?? '';
  const g = new GraphBuilder('stft', `${output}_`);
  if (arithmetic === 'float16') {
    const product = stridedProduct(g, node.input[0] ?? '', hop, basis, bias);
    g.alias(output, g.op('Reshape', [product, g.ints(1, -1, bins, 2)]));
    return g.build();
  }
  const samples = g.op('Reshape', [node.input[0] ?? '', g.ints(1, 1, -1)]);
  const kernel = g.floats([2 * bins, 1, size], basis);
  const parts = g.op('Conv', [samples, kernel, g.floats([2 * bins], bias)], {
    strides: [hop],
    kernel_shape: [size],
  });
  const frames = g.op('Transpose', [parts], { perm: [0, 2, 1] });
  g.alias(output, g.op('Reshape', [frames, g.ints(1, -1, bins, 2)]));
  return g.build();
}
