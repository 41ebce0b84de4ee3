/** A small Whisper model of two layers with random weights. */

import type {
  AttentionWeights,
  Convolution,
  WhisperWeights,
} from '../../src/engines/whisper/import/weights.ts';
import type { LinearLayer } from '../../src/inference/onnx/linear-layer.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import { type StoredVariable, storedCheckpoint } from './ct2-writer.ts';

export interface TinySizes {
  readonly audioPositions: number;
  readonly textPositions: number;
  readonly vocabulary: number;
}

const WIDTH = 32;
const HEADS = 2;
const LAYERS = 2;
const INNER = 64;

/** Sinusoidal position embeddings like those of the Whisper encoder, with periods of 6 to 6000 positions. */
function sinusoids(positions: number): Float32Array {
  const half = WIDTH / 2;
  return Float32Array.from({ length: positions * WIDTH }, (_, i) => {
    const [position, channel] = [Math.floor(i / WIDTH), i % WIDTH];
    const angle = position * 1_000 ** (-(channel % half) / (half - 1));
    return 0.5 * (channel < half ? Math.sin(angle) : Math.cos(angle));
  });
}

/** Deterministic weights. Embeddings are exact in float16. */
export function tinyWhisper({ audioPositions, textPositions, vocabulary }: TinySizes): WhisperWeights {
  const random = seededRandom(7);
  const numbers = (count: number, size: number, mean = 0) =>
    Float32Array.from({ length: count }, () => mean + size * (2 * random() - 1));
  const linear = (outputs: number, inputs: number, bias = true): LinearLayer => ({
    outputs,
    inputs,
    weight: numbers(outputs * inputs, 2 / Math.sqrt(inputs)),
    bias: bias ? numbers(outputs, 0.2) : undefined,
  });
  const norm = () => ({ gamma: numbers(WIDTH, 0.3, 1), beta: numbers(WIDTH, 0.2) });
  // Keys have no bias in Whisper; CTranslate2 stores zeros.
  const attention = (): AttentionWeights => ({
    norm: norm(),
    query: linear(WIDTH, WIDTH),
    key: { ...linear(WIDTH, WIDTH, false), bias: new Float32Array(WIDTH) },
    value: linear(WIDTH, WIDTH),
    output: linear(WIDTH, WIDTH),
  });
  const feedForward = () => ({ norm: norm(), up: linear(INNER, WIDTH), down: linear(WIDTH, INNER) });
  const convolution = (outputs: number, inputs: number): Convolution => ({
    dims: [outputs, inputs, 3],
    weight: numbers(outputs * inputs * 3, 1 / Math.sqrt(inputs * 3)),
    bias: numbers(outputs, 0.2),
  });
  const layers = <Layer>(make: () => Layer) => Array.from({ length: LAYERS }, make);
  return {
    width: WIDTH,
    heads: HEADS,
    melBands: 80,
    vocabulary,
    audioPositions,
    textPositions,
    convolutions: [convolution(WIDTH, 80), convolution(WIDTH, WIDTH)],
    audioPositionEmbedding: sinusoids(audioPositions),
    encoder: layers(() => ({ attention: attention(), feedForward: feedForward() })),
    encoderNorm: norm(),
    tokenEmbedding: Float32Array.from(Float16Array.from(numbers(vocabulary * WIDTH, 0.5))),
    textPositionEmbedding: numbers(textPositions * WIDTH, 0.3),
    decoder: layers(() => ({ attention: attention(), cross: attention(), feedForward: feedForward() })),
    decoderNorm: norm(),
  };
}

/** The weights as a float32 checkpoint of CTranslate2. */
export function tinyCheckpoint(weights: WhisperWeights): Uint8Array<ArrayBuffer> {
  const variables: StoredVariable[] = [];
  const put = (name: string, dims: readonly number[], data: Float32Array | readonly number[]) =>
    variables.push({ name, dims, type: 'float32', data: Float32Array.from(data) });
  const putNorm = (name: string, { gamma, beta }: { gamma: Float32Array; beta: Float32Array }) => {
    put(`${name}/gamma`, [gamma.length], gamma);
    put(`${name}/beta`, [beta.length], beta);
  };
  const putLinear = (name: string, ...joined: readonly LinearLayer[]) => {
    const outputs = joined.reduce((sum, layer) => sum + layer.outputs, 0);
    put(
      `${name}/weight`,
      [outputs, joined[0]?.inputs ?? 0],
      joined.flatMap(({ weight }) => [...weight]),
    );
    put(
      `${name}/bias`,
      [outputs],
      joined.flatMap(({ bias }) => [...(bias ?? [])]),
    );
  };
  const setting = (name: string, value: number) =>
    variables.push({ name, dims: [], type: 'int16', data: Int16Array.of(value) });
  setting('encoder/num_heads', weights.heads);
  setting('decoder/num_heads', weights.heads);
  for (const [i, { dims, weight, bias }] of weights.convolutions.entries()) {
    put(`encoder/conv${i + 1}/weight`, dims, weight);
    put(`encoder/conv${i + 1}/bias`, [dims[0]], bias);
  }
  const { width, audioPositions, textPositions, vocabulary } = weights;
  put('encoder/position_encodings/encodings', [audioPositions, width], weights.audioPositionEmbedding);
  put('decoder/position_encodings/encodings', [textPositions, width], weights.textPositionEmbedding);
  put('decoder/embeddings/weight', [vocabulary, width], weights.tokenEmbedding);
  putNorm('encoder/layer_norm', weights.encoderNorm);
  putNorm('decoder/layer_norm', weights.decoderNorm);
  for (const [side, layers] of [
    ['encoder', weights.encoder],
    ['decoder', weights.decoder],
  ] as const) {
    for (const [i, layer] of layers.entries()) {
      const at = `${side}/layer_${i}`;
      const { norm, query, key, value, output } = layer.attention;
      putNorm(`${at}/self_attention/layer_norm`, norm);
      putLinear(`${at}/self_attention/linear_0`, query, key, value);
      putLinear(`${at}/self_attention/linear_1`, output);
      if ('cross' in layer) {
        const { cross } = layer as (typeof weights.decoder)[number];
        putNorm(`${at}/attention/layer_norm`, cross.norm);
        putLinear(`${at}/attention/linear_0`, cross.query);
        putLinear(`${at}/attention/linear_1`, cross.key, cross.value);
        putLinear(`${at}/attention/linear_2`, cross.output);
      }
      putNorm(`${at}/ffn/layer_norm`, layer.feedForward.norm);
      putLinear(`${at}/ffn/linear_0`, layer.feedForward.up);
      putLinear(`${at}/ffn/linear_1`, layer.feedForward.down);
    }
  }
  return storedCheckpoint(variables, {
    aliases: [['decoder/projection/weight', 'decoder/embeddings/weight']],
  });
}
