/**
 * Kokoro's generator (iSTFTNet: Kaneko et al. 2022, arXiv 2203.02395; styled as in StyleTTS 2, Li et al.
 * 2023, arXiv 2306.07691) as a custom ONNX graph that decodes one window of an utterance.
 *
 * Differences from the published export:
 * - Activations have the layout [1, time, channels], so that a convolution is one integer matrix product over
 *   concatenated taps. ONNX Runtime 1.30 computes it several times faster than its convolution operators.
 * - Adaptive instance norms combine the mean and variance of this window with statistics that the caller provides: those
 *   of earlier windows and a prediction for later ones (see norm-statistics.ts).
 * - Norm and Snake activation are folded into five element-wise operations around one sine.
 */

import {
  type Arithmetic,
  convolutionProduct,
  rearrangeTaps,
  slice,
} from '../../../inference/onnx/convolution-product.ts';
import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import type { Graph } from '../../../inference/onnx/onnx-proto.ts';
import { GraphIndex, readQuantizedLayer } from '../../../inference/onnx/rewrite.ts';
import { floatsOf, valuesOf } from '../../../inference/onnx/tensors.ts';

/** Name prefixes of the generator's nodes and weights in the published graph. */
const NODES = '/decoder/decoder/generator/';
const WEIGHTS = 'decoder.decoder.generator.';

/** Frames of the hidden input per text frame of 25 ms (40 text frames per second). */
export const HIDDEN_FRAMES = 2;
/** Frames of the harmonic source and of the output spectrum per text frame. */
export const SOURCE_FRAMES = 120;
/** Channels of the hidden input and of the source (magnitude and phase of a 20-point STFT). */
const HIDDEN_CHANNELS = 512;
const SOURCE_CHANNELS = 22;
/** Hop of the inverse STFT, in samples at 24 kHz. */
export const HOP_SAMPLES = 5;
const FFT_SIZE = 20;

interface Stage {
  readonly channels: number;
  readonly stride: number;
  readonly noiseTaps: number;
  /** Source frames per frame of this stage. */
  readonly sourceStride: number;
}
const STAGES: readonly Stage[] = [
  { channels: 256, stride: 10, noiseTaps: 7, sourceStride: 6 },
  { channels: 128, stride: 6, noiseTaps: 11, sourceStride: 1 },
];
const RESBLOCK_TAPS = [3, 7, 11];
const DILATIONS = [1, 3, 5];

/** Frames of each stage per text frame. */
export const STAGE_FRAMES: readonly number[] = STAGES.map((_, i) =>
  STAGES.slice(0, i + 1).reduce((frames, stage) => frames * stage.stride, HIDDEN_FRAMES),
);

/** One adaptive norm of the generator. */
export interface NormSlot {
  /** Path of the norm in the published graph, e.g. `noise_res.0/adain1.0`. */
  readonly path: string;
  readonly channels: number;
  /** Index of the stage whose frame weights it uses. */
  readonly stage: number;
}

/** All adaptive norms of the generator, in the order of `affine` and of the statistics vectors. */
export function normSlots(): NormSlot[] {
  const slots: NormSlot[] = [];
  STAGES.forEach(({ channels }, stage) => {
    const blocks = [`noise_res.${stage}`, ...RESBLOCK_TAPS.map((_, i) => `resblocks.${stage * 3 + i}`)];
    for (const block of blocks) {
      for (const layer of DILATIONS.keys()) {
        for (const half of [1, 2]) slots.push({ path: `${block}/adain${half}.${layer}`, channels, stage });
      }
    }
  });
  return slots;
}

/** Sum of the channels of all norms: the length of each statistics vector. */
export const STATISTICS_LENGTH = normSlots().reduce((sum, slot) => sum + slot.channels, 0);

/**
 * Builds the graph. Inputs for a window of H text frames and R rows of weights:
 * - `hidden` [1, 2H, 512], `source` [1, 120H, 22] and `affine` [1, 2 x STATISTICS_LENGTH]: outputs of the acoustic
 *   graph, the first two cut to the window.
 * - `weights0` [1, R, 20H], `weights1` [1, R, 120H]: weight of each frame of each stage. The norms use the first row;
 *   the other rows only compute averages for the caller.
 * - `mean`, `square` [1, 1, STATISTICS_LENGTH]: added to the averages of the first row. Its weights and those of the added
 *   statistics must sum to 1.
 * Outputs:
 * - `means`, `squares` [1, R, STATISTICS_LENGTH]: averages of each channel for each row, without the added statistics.
 * - `audio` [600H - 15]: samples at 24 kHz. The first is sample 5 of the window, because only samples that are covered by
 *   all four overlapping spectrum frames are computed.
 */
export function buildGenerator(published: Graph, arithmetic: Arithmetic): Graph {
  return new GeneratorWriter(new GraphIndex(published), arithmetic).write();
}

/** Names of the graph values that a norm reads. */
interface NormInput {
  /** `gain - 1` and offset of the style. */
  readonly gain: string;
  readonly offset: string;
  readonly mean: string;
  readonly square: string;
  readonly stage: number;
}

class GeneratorWriter {
  readonly #index: GraphIndex;
  readonly #arithmetic: Arithmetic;
  readonly #g = new GraphBuilder('kokoro-generator');
  readonly #norms = new Map<string, NormInput>();
  readonly #measured: { means: string[]; squares: string[] } = { means: [], squares: [] };

  constructor(index: GraphIndex, arithmetic: Arithmetic) {
    this.#index = index;
    this.#arithmetic = arithmetic;
  }

  write(): Graph {
    const g = this.#g;
    const hidden = g.input('hidden', [1, 'hidden_frames', HIDDEN_CHANNELS]);
    const source = g.input('source', [1, 'source_frames', SOURCE_CHANNELS]);
    this.#declareNorms();

    let x = hidden;
    for (const [i, stage] of STAGES.entries()) {
      x = this.#upsample(g.op('LeakyRelu', [x], { alpha: { f: 0.1 } }), i, stage);
      if (i === STAGES.length - 1) x = this.#reflectFirstFrame(x);
      const noise = this.#resblock(this.#noiseConvolution(source, i, stage), `noise_res.${i}`);
      x = g.op('Add', [x, noise]);
      const branches = RESBLOCK_TAPS.map((_, branch) => this.#resblock(x, `resblocks.${i * 3 + branch}`));
      const sum = branches.reduce((a, b) => g.op('Add', [a, b]));
      x = g.op('Mul', [sum, g.floats([], [1 / branches.length])]);
    }
    g.output('audio', this.#inverseStft(this.#spectrum(g.op('LeakyRelu', [x], { alpha: { f: 0.01 } }))));
    g.output('means', g.op('Concat', this.#measured.means, { axis: 2 }));
    g.output('squares', g.op('Concat', this.#measured.squares, { axis: 2 }));
    return g.build();
  }

  /** Splits the joint inputs of the norms into one slice per norm. */
  #declareNorms(): void {
    const g = this.#g;
    STAGES.forEach((_, i) => {
      g.input(`weights${i}`, [1, 'rows', `frames${i}`]);
    });
    const slots = normSlots();
    const channels = slots.map((slot) => slot.channels);
    const pieces = (value: string, sizes: number[]) =>
      g.ops('Split', [value, g.ints(...sizes)], sizes.length, { axis: 2 });
    const affine = g.op('Unsqueeze', [g.input('affine', [1, 2 * STATISTICS_LENGTH]), g.ints(1)]);
    const halves = pieces(
      affine,
      channels.flatMap((c) => [c, c]),
    );
    const means = pieces(g.input('mean', [1, 1, STATISTICS_LENGTH]), channels);
    const squares = pieces(g.input('square', [1, 1, STATISTICS_LENGTH]), channels);
    slots.forEach(({ path, stage }, i) => {
      const [gain = '', offset = ''] = halves.slice(2 * i);
      this.#norms.set(path, { gain, offset, mean: means[i] ?? '', square: squares[i] ?? '', stage });
    });
  }

  /** Three residual layers, each of norm, Snake, dilated convolution, norm, Snake and convolution. */
  #resblock(input: string, path: string): string {
    let x = input;
    DILATIONS.forEach((dilation, i) => {
      let y = this.#normSnake(x, `${path}/adain1.${i}`, `${path}.alpha1.${i}`);
      y = this.#convolution(y, `${path}/convs1.${i}`, dilation);
      y = this.#normSnake(y, `${path}/adain2.${i}`, `${path}.alpha2.${i}`);
      y = this.#convolution(y, `${path}/convs2.${i}`, 1);
      x = this.#g.op('Add', [y, x]);
    });
    return x;
  }

  /**
   * Adaptive instance norm, then Snake (Ziyin et al. 2020, arXiv 2006.08195): `y + sin²(αy)/α` with
   * `y = x gain + offset`. With `2sin²a = 1 - cos 2a` and `t = 2αy + π/2` this equals
   * `(t - sin t)/2α + (1 - π/2)/2α`, where t needs one multiplication and one addition.
   */
  #normSnake(x: string, norm: string, alphaName: string): string {
    const g = this.#g;
    const { gain, offset } = this.#normOf(x, norm);
    const alpha = Array.from(floatsOf(this.#index.initializer(`${WEIGHTS}${alphaName}`)));
    const perChannel = (value: (a: number) => number) => g.floats([1, 1, alpha.length], alpha.map(value));
    const double = perChannel((a) => 2 * a);
    const slope = g.op('Mul', [gain, double]);
    const intercept = g.op('Add', [g.op('Mul', [offset, double]), g.floats([], [Math.PI / 2])]);
    const t = g.op('Add', [g.op('Mul', [x, slope]), intercept]);
    const wave = g.op('Mul', [g.op('Sub', [t, g.op('Sin', [t])]), perChannel((a) => 0.5 / a)]);
    return g.op('Add', [wave, perChannel((a) => (1 - Math.PI / 2) / (2 * a))]);
  }

  /** Gain and offset of a norm, [1, 1, channels], for `x` [1, frames, channels]. */
  #normOf(x: string, path: string): { gain: string; offset: string } {
    const g = this.#g;
    const norm = this.#norms.get(path);
    if (!norm) throw new Error(`generator norm '${path}' is not declared`);
    const weights = `weights${norm.stage}`;
    const means = g.op('MatMul', [weights, x]);
    const squares = g.op('MatMul', [weights, g.op('Mul', [x, x])]);
    this.#measured.means.push(means);
    this.#measured.squares.push(squares);
    const mean = g.op('Add', [slice(g, means, 1, 0, 1), norm.mean]);
    const square = g.op('Add', [slice(g, squares, 1, 0, 1), norm.square]);
    const variance = g.op('Relu', [g.op('Sub', [square, g.op('Mul', [mean, mean])])]);
    const deviation = g.op('Sqrt', [g.op('Add', [variance, g.floats([], [1e-5])])]);
    const gain = g.op('Div', [g.op('Add', [norm.gain, g.floats([], [1])]), deviation]);
    return { gain, offset: g.op('Sub', [norm.offset, g.op('Mul', [mean, gain])]) };
  }

  /** A dilated convolution. These take most of the computing time. */
  #convolution(x: string, path: string, dilation: number): string {
    const layer = readQuantizedLayer(this.#index, this.#index.node(`${NODES}${path}/Conv_quant`));
    return convolutionProduct(this.#g, x, layer, dilation, this.#arithmetic);
  }

  /**
   * A transposed convolution whose kernel is twice its stride: each input frame gives two rows of output, and the second
   * row is added to the first row of the next frame.
   */
  #upsample(x: string, index: number, { stride, channels }: Stage): string {
    const g = this.#g;
    const node = this.#index.node(`${NODES}ups.${index}/ConvTranspose`);
    const kernel = this.#index.initializer(node.input[1]);
    const [inputs = 0, outputs = 0, taps = 0] = kernel.dims;
    if (taps !== 2 * stride || outputs !== channels) throw new Error(`ups.${index}: unexpected kernel`);
    const from = valuesOf(kernel);
    const to = new Float32Array(from.length);
    for (let i = 0; i < inputs; i++) {
      for (let o = 0; o < outputs; o++) {
        for (let k = 0; k < taps; k++) {
          to[i * taps * outputs + k * outputs + o] = from[(i * outputs + o) * taps + k] ?? 0;
        }
      }
    }
    const row = stride * channels;
    const rows = g.op('MatMul', [x, g.floats([inputs, taps * channels], to)]);
    const [first = '', second = ''] = g.ops('Split', [rows, g.ints(row, row)], 2, { axis: 2 });
    const zeros = g.floats([1, 1, row], new Float32Array(row));
    const sum = g.op('Add', [
      g.op('Concat', [first, zeros], { axis: 1 }),
      g.op('Concat', [zeros, second], { axis: 1 }),
    ]);
    const frames = g.op('Reshape', [sum, g.ints(1, -1, channels)]);
    // The kernel overhangs by half a stride on both sides.
    const trimmed = slice(g, frames, 1, stride / 2, -stride / 2);
    return g.op('Add', [trimmed, g.floats([channels], floatsOf(this.#index.initializer(node.input[2])))]);
  }

  /** Prepends frame 1 (reflection padding) and drops the last frame, so that the length stays even. */
  #reflectFirstFrame(x: string): string {
    const g = this.#g;
    return g.op('Concat', [slice(g, x, 1, 1, 2), slice(g, x, 1, 0, -1)], { axis: 1 });
  }

  /** The convolution of the source into a stage: 12 taps with stride 6, or a single tap. */
  #noiseConvolution(source: string, index: number, { sourceStride, channels }: Stage): string {
    const g = this.#g;
    const layer = readQuantizedLayer(
      this.#index,
      this.#index.node(`${NODES}noise_convs.${index}/Conv_quant`),
    );
    const taps = layer.weight.dims[2] ?? 0;
    const scale = valuesOf(layer.scale)[0] ?? 1;
    const zero = valuesOf(layer.zeroPoint)[0] ?? 0;
    const weight = rearrangeTaps(
      valuesOf(layer.weight),
      layer.weight.dims,
      (length) => new Float32Array(length),
      (q) => (q - zero) * scale,
    );
    const kernel = g.floats([taps * SOURCE_CHANNELS, channels], weight);
    const bias = g.floats([channels], layer.bias ?? new Float32Array(channels));
    let x = source;
    if (sourceStride > 1) {
      // Frame t needs source frames 6t-3 … 6t+8: two adjacent groups of six, shifted by three.
      const half = sourceStride / 2;
      const zeros = g.floats([1, half, SOURCE_CHANNELS], new Float32Array(half * SOURCE_CHANNELS));
      const padded = g.op('Concat', [zeros, source, zeros], { axis: 1 });
      const groups = g.op('Reshape', [padded, g.ints(1, -1, sourceStride * SOURCE_CHANNELS)]);
      x = g.op('Concat', [slice(g, groups, 1, 0, -1), slice(g, groups, 1, 1)], { axis: 2 });
    }
    return g.op('Add', [g.op('MatMul', [x, kernel]), bias]);
  }

  /** The last convolution, 128 → 22 channels and 7 taps: one matrix product, then a sum of the shifted taps. */
  #spectrum(x: string): string {
    const g = this.#g;
    const node = this.#index.node(`${NODES}conv_post/Conv`);
    const kernel = this.#index.initializer(node.input[1]);
    const [outputs = 0, inputs = 0, taps = 0] = kernel.dims;
    const from = valuesOf(kernel);
    const to = new Float32Array(from.length);
    for (let o = 0; o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        for (let k = 0; k < taps; k++) {
          to[i * taps * outputs + k * outputs + o] = from[(o * inputs + i) * taps + k] ?? 0;
        }
      }
    }
    const margin = (taps - 1) / 2;
    const rows = g.op('MatMul', [x, g.floats([inputs, taps * outputs], to)]);
    const zeros = g.floats([1, margin, taps * outputs], new Float32Array(margin * taps * outputs));
    const padded = g.op('Concat', [zeros, rows, zeros], { axis: 1 });
    const columns = g.ops('Split', [padded, g.ints(...new Array<number>(taps).fill(outputs))], taps, {
      axis: 2,
    });
    const shifted = columns.map((column, tap) => slice(g, column, 1, tap, tap - taps + 1));
    const sum = shifted.reduce((a, b) => g.op('Add', [a, b]));
    return g.op('Add', [sum, g.floats([outputs], floatsOf(this.#index.initializer(node.input[2])))]);
  }

  /** Log magnitude and phase to samples: inverse STFT with 20 points, hop 5 and overlap-add. */
  #inverseStft(spectrum: string): string {
    const g = this.#g;
    const bins = FFT_SIZE / 2 + 1;
    const [logMagnitude = '', angle = ''] = g.ops('Split', [spectrum, g.ints(bins, bins)], 2, { axis: 2 });
    const magnitude = g.op('Exp', [logMagnitude]);
    const phase = g.op('Sin', [angle]);
    const parts = g.op(
      'Concat',
      [g.op('Mul', [magnitude, g.op('Cos', [phase])]), g.op('Mul', [magnitude, g.op('Sin', [phase])])],
      { axis: 2 },
    );
    // The published basis includes the window and 1/N. The factor 4, the overlap, compensates the sum of the windows.
    const overlap = FFT_SIZE / HOP_SAMPLES;
    const basis = floatsOf(this.#index.initializer(`${WEIGHTS}stft.istft.stft.inverse_basis`));
    const frames = g.op('MatMul', [
      parts,
      g.floats(
        [2 * bins, FFT_SIZE],
        basis.map((b) => b * overlap),
      ),
    ]);
    const quarters = g.ops(
      'Split',
      [frames, g.ints(...new Array<number>(overlap).fill(HOP_SAMPLES))],
      overlap,
      {
        axis: 2,
      },
    );
    const sum = quarters
      .map((quarter, i) => slice(g, quarter, 1, overlap - 1 - i, i === 0 ? undefined : -i))
      .reduce((a, b) => g.op('Add', [a, b]));
    return g.op('Reshape', [sum, g.ints(-1)]);
  }
}
