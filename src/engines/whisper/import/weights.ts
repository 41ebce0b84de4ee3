/** The weights of a Whisper model by their role, independent of the file format. */

import type { LinearLayer } from '../../../inference/onnx/linear-layer.ts';
import type { Ct2Checkpoint } from './ct2-checkpoint.ts';

/** Scale and shift of a layer norm, one value per channel. */
export interface Norm {
  readonly gamma: Float32Array;
  readonly beta: Float32Array;
}

/** Weights of self-attention or cross-attention. */
export interface AttentionWeights {
  readonly norm: Norm;
  readonly query: LinearLayer;
  readonly key: LinearLayer;
  readonly value: LinearLayer;
  readonly output: LinearLayer;
}

export interface FeedForwardWeights {
  readonly norm: Norm;
  readonly up: LinearLayer;
  readonly down: LinearLayer;
}

export interface EncoderLayer {
  readonly attention: AttentionWeights;
  readonly feedForward: FeedForwardWeights;
}

export interface DecoderLayer extends EncoderLayer {
  readonly cross: AttentionWeights;
}

/** A convolution over time: weight row-major [outputs, inputs, taps]. */
export interface Convolution {
  readonly dims: readonly [outputs: number, inputs: number, taps: number];
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

export interface WhisperWeights {
  /** Channels of every layer. */
  readonly width: number;
  readonly heads: number;
  readonly melBands: 80 | 128;
  readonly vocabulary: number;
  /** Number of position embeddings of the encoder: 1500, 20 ms each. */
  readonly audioPositions: number;
  /** Number of position embeddings of the decoder: 448 tokens. */
  readonly textPositions: number;
  readonly convolutions: readonly [Convolution, Convolution];
  /** [audioPositions, width] */
  readonly audioPositionEmbedding: Float32Array;
  readonly encoder: readonly EncoderLayer[];
  readonly encoderNorm: Norm;
  /** [vocabulary, width]; also the projection to logits. */
  readonly tokenEmbedding: Float32Array;
  /** [textPositions, width] */
  readonly textPositionEmbedding: Float32Array;
  readonly decoder: readonly DecoderLayer[];
  readonly decoderNorm: Norm;
}

/**
 * Reads the weights of a CTranslate2 Whisper checkpoint, whose attention layers store query, key and value in one matrix.
 * @throws Error that names the mismatch for any other checkpoint.
 */
export function whisperWeights(checkpoint: Ct2Checkpoint): WhisperWeights {
  if (checkpoint.spec !== 'WhisperSpec') {
    throw new Error(`The checkpoint is a ${checkpoint.spec}, not a WhisperSpec.`);
  }
  const read = new Ct2Names(checkpoint);
  const embedding = checkpoint.tensor('decoder/embeddings/weight');
  const audioPositions = checkpoint.tensor('encoder/position_encodings/encodings');
  const textPositions = checkpoint.tensor('decoder/position_encodings/encodings');
  const convolutions = [read.convolution('encoder/conv1'), read.convolution('encoder/conv2')] as const;
  const [, melBands] = convolutions[0].dims;
  if (melBands !== 80 && melBands !== 128) {
    throw new Error(`The checkpoint has ${melBands} mel bands; Whisper has 80 or 128.`);
  }
  return {
    width: embedding.dims[1] ?? 0,
    heads: checkpoint.setting('encoder/num_heads'),
    melBands,
    vocabulary: embedding.dims[0] ?? 0,
    audioPositions: audioPositions.dims[0] ?? 0,
    textPositions: textPositions.dims[0] ?? 0,
    convolutions,
    audioPositionEmbedding: audioPositions.values,
    encoder: read.layers('encoder').map((layer) => ({
      attention: read.selfAttention(`${layer}/self_attention`),
      feedForward: read.feedForward(`${layer}/ffn`),
    })),
    encoderNorm: read.norm('encoder/layer_norm'),
    tokenEmbedding: embedding.values,
    textPositionEmbedding: textPositions.values,
    decoder: read.layers('decoder').map((layer) => ({
      attention: read.selfAttention(`${layer}/self_attention`),
      cross: read.crossAttention(`${layer}/attention`),
      feedForward: read.feedForward(`${layer}/ffn`),
    })),
    decoderNorm: read.norm('decoder/layer_norm'),
  };
}

class Ct2Names {
  readonly #checkpoint: Ct2Checkpoint;

  constructor(checkpoint: Ct2Checkpoint) {
    this.#checkpoint = checkpoint;
  }

  layers(side: string): string[] {
    const names: string[] = [];
    while (this.#checkpoint.has(`${side}/layer_${names.length}/ffn/linear_0/weight`)) {
      names.push(`${side}/layer_${names.length}`);
    }
    return names;
  }

  norm(name: string): Norm {
    return {
      gamma: this.#checkpoint.tensor(`${name}/gamma`).values,
      beta: this.#checkpoint.tensor(`${name}/beta`).values,
    };
  }

  linear(name: string): LinearLayer {
    const { dims, values } = this.#checkpoint.tensor(`${name}/weight`);
    const [outputs = 0, inputs = 0] = dims;
    const bias = this.#checkpoint.has(`${name}/bias`)
      ? this.#checkpoint.tensor(`${name}/bias`).values
      : undefined;
    return { outputs, inputs, weight: values, bias };
  }

  convolution(name: string): Convolution {
    const { dims, values } = this.#checkpoint.tensor(`${name}/weight`);
    const [outputs = 0, inputs = 0, taps = 0] = dims;
    return {
      dims: [outputs, inputs, taps],
      weight: values,
      bias: this.#checkpoint.tensor(`${name}/bias`).values,
    };
  }

  selfAttention(name: string): AttentionWeights {
    const [query, key, value] = splitLayer(this.linear(`${name}/linear_0`), 3) as [
      LinearLayer,
      LinearLayer,
      LinearLayer,
    ];
    return {
      norm: this.norm(`${name}/layer_norm`),
      query,
      key,
      value,
      output: this.linear(`${name}/linear_1`),
    };
  }

  crossAttention(name: string): AttentionWeights {
    const [key, value] = splitLayer(this.linear(`${name}/linear_1`), 2) as [LinearLayer, LinearLayer];
    return {
      norm: this.norm(`${name}/layer_norm`),
      query: this.linear(`${name}/linear_0`),
      key,
      value,
      output: this.linear(`${name}/linear_2`),
    };
  }

  feedForward(name: string): FeedForwardWeights {
    return {
      norm: this.norm(`${name}/layer_norm`),
      up: this.linear(`${name}/linear_0`),
      down: this.linear(`${name}/linear_1`),
    };
  }
}

/** Splits a layer into `count` layers with an equal number of outputs. */
function splitLayer({ outputs, inputs, weight, bias }: LinearLayer, count: number): LinearLayer[] {
  const size = outputs / count;
  return Array.from({ length: count }, (_, part) => ({
    outputs: size,
    inputs,
    weight: weight.subarray(part * size * inputs, (part + 1) * size * inputs),
    bias: bias?.subarray(part * size, (part + 1) * size),
  }));
}

/** Concatenates the outputs of several layers over the same input into one layer. */
export function joinLayers(layers: readonly LinearLayer[]): LinearLayer {
  const outputs = layers.reduce((sum, layer) => sum + layer.outputs, 0);
  const inputs = layers[0]?.inputs ?? 0;
  const weight = new Float32Array(outputs * inputs);
  const bias = new Float32Array(outputs);
  let row = 0;
  for (const layer of layers) {
    weight.set(layer.weight, row * inputs);
    if (layer.bias) bias.set(layer.bias, row);
    row += layer.outputs;
  }
  return { outputs, inputs, weight, bias };
}
