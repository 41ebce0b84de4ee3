/**
 * Splits the graph of a Piper voice (VITS, Kim et al. 2021), so that its audio can be generated in windows:
 *
 * - encoder: `input` int64[1,n], `input_lengths` int64[1], `scales` f32[3] → `latent` f32[1,c,T], and `durations`
 *   f32[1,1,n], the latent frames of each input;
 * - decoder: `latent` f32[1,c,t] → `audio` f32[1,1,t·hop].
 *
 * c is 192, or 96 in voices of the quality `x_low`. With several speakers, both have the input `sid` int64[1] as well.
 *
 * The decoder consists of convolutions only, so a window with sufficient context gives the samples of the whole. The two
 * random sources of the encoder (stochastic durations, prior noise) are replaced by constants, so that the same request
 * always gives the same audio.
 */

import { makeNode } from '../../inference/onnx/graph-builder.ts';
import {
  decodeModel,
  encodeModel,
  type Graph,
  type Model,
  type Node,
} from '../../inference/onnx/onnx-proto.ts';
import { extractSubgraph, GraphIndex } from '../../inference/onnx/rewrite.ts';
import { floatTensor, int64Tensor } from '../../inference/onnx/tensors.ts';

/** First convolution of the generator in Piper's exports. Its input is the latent. */
const FIRST_CONVOLUTION = '/dec/conv_pre/Conv';
/** Output of the duration predictor, rounded up to frames. */
const DURATIONS = '/Ceil_output_0';
/** Period of the noise in latent frames: 12 s. */
const NOISE_STEPS = 1024;

/** Name of the input with the number of the speaker, in voices with several. */
export const SPEAKER_INPUT = 'sid';
/** Name of the decoder's input. */
export const DECODER_INPUT = 'latent';

export interface PiperGraphs {
  readonly encoder: Uint8Array;
  readonly decoder: Uint8Array;
  readonly hasSpeakers: boolean;
}

/** @throws Error when the file is not a Piper voice with the expected structure. */
export function splitPiperGraph(file: Uint8Array): PiperGraphs {
  const model = decodeModel(file);
  const index = new GraphIndex(model.graph);
  const first = index.node(FIRST_CONVOLUTION);
  const [, channels = 0] = index.initializer(first.input[1]).dims;
  const latent = index.producer(first.input[0]).output[0] ?? '';
  const graph = withFixedNoise(model.graph, channels);
  const encoder = extractSubgraph(graph, [
    { name: 'latent', value: latent },
    { name: 'durations', value: DURATIONS },
  ]);
  const rest = {
    ...graph,
    node: graph.node.map((node) =>
      node.output.includes(latent) ? makeNode('Identity', [DECODER_INPUT], [latent]) : node,
    ),
  };
  const decoder = extractSubgraph(
    rest,
    graph.output.slice(0, 1).map(({ name }) => ({ name: 'audio', value: name })),
  );
  decoder.input = [
    {
      name: DECODER_INPUT,
      type: {
        tensorType: {
          elemType: 1,
          shape: { dim: [{ dimValue: 1 }, { dimValue: channels }, { dimParam: 'frames' }] },
        },
      },
    },
    ...decoder.input,
  ];
  const hasSpeakers = graph.input.some(({ name }) => name === SPEAKER_INPUT);
  return { encoder: encode(model, encoder), decoder: encode(model, decoder), hasSpeakers };
}

function encode(model: Model, graph: Graph): Uint8Array {
  return encodeModel({ ...model, graph });
}

/** Replaces both `RandomNormalLike` nodes by constant noise, repeated and cut to the required length. */
function withFixedNoise(graph: Graph, channels: number): Graph {
  const random = graph.node.filter((node) => node.opType === 'RandomNormalLike');
  if (random.length !== 2) throw new Error(`expected 2 random nodes, found ${random.length}`);
  const node = graph.node.flatMap((each) =>
    random.includes(each) ? fixedNoise(each, each.name.includes('/dp/') ? 2 : channels) : [each],
  );
  const constants = [
    floatTensor('noise_2', [1, 2, NOISE_STEPS], normalNoise(2 * NOISE_STEPS, 1)),
    floatTensor(`noise_${channels}`, [1, channels, NOISE_STEPS], normalNoise(channels * NOISE_STEPS, 2)),
    int64Tensor('noise_axis', [2]),
    int64Tensor('noise_start', [0]),
    int64Tensor('noise_ones', [1, 1]),
    int64Tensor('noise_round_up', [NOISE_STEPS - 1]),
    int64Tensor('noise_steps', [NOISE_STEPS]),
  ];
  return { ...graph, node, initializer: [...graph.initializer, ...constants] };
}

/** noise[..., 0 : length(like)], where noise repeats: Slice(Tile(noise, ceil(length / steps)), length). */
function fixedNoise(random: Node, channels: number): Node[] {
  const [like, output] = [random.input[0] ?? '', random.output[0] ?? ''];
  const name = (part: string) => `${output}_${part}`;
  return [
    makeNode('Shape', [like], [name('shape')]),
    makeNode('Gather', [name('shape'), 'noise_axis'], [name('length')]),
    makeNode('Add', [name('length'), 'noise_round_up'], [name('padded')]),
    makeNode('Div', [name('padded'), 'noise_steps'], [name('times')]),
    makeNode('Concat', ['noise_ones', name('times')], [name('repeats')], { axis: 0 }),
    makeNode('Tile', [`noise_${channels}`, name('repeats')], [name('tiled')]),
    makeNode('Slice', [name('tiled'), 'noise_start', name('length'), 'noise_axis'], [output]),
  ];
}

/** Gaussian noise of unit variance: Box-Muller over a 32-bit xorshift (Marsaglia 2003). */
function normalNoise(count: number, seed: number): Float32Array {
  let state = 0x9e3779b9 ^ seed;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}
