/**
 * Kokoro's generator (iSTFTNet: Kaneko et al. 2022, arXiv 2203.02395; styled as in StyleTTS 2, Li et al.
 * 2023, arXiv 2306.07691), written as an ONNX graph of our own for one window of an utterance.
 *
 * What it does differently from the usual export, and why:
 * - Sound lies as [1, time, channels], so that a convolution is one integer matrix product over the taps
 *   laid side by side. ONNX Runtime 1.30 does those several times faster than its convolutions.
 * - Adaptive instance norms take their mean and variance from this window *and* from what the caller adds:
 *   the windows before it, and a prediction of those to come (see norm-statistics.ts).
 * - Norm and Snake activation are folded into five element-wise steps around one sine.
 */

import { type Arithmetic, convolutionProduct, rearrangeTaps, slice } from '../../onnx/convolution-product.ts';
import { GraphBuilder } from '../../onnx/graph-builder.ts';
import type { Graph } from '../../onnx/onnx-proto.ts';
import { GraphIndex, readQuantizedLayer } from '../../onnx/rewrite.ts';
import { floatsOf, valuesOf } from '../../onnx/tensors.ts';

/** Where the generator's layers are found in the shipped graph. */
const NODES = '/decoder/decoder/generator/';
const WEIGHTS = 'decoder.decoder.generator.';

/** Frames of the generator's input for each text frame of 25 ms (40 a second). */
export const HIDDEN_FRAMES = 2;
/** Frames of the harmonic source, and of the output spectrum, for each text frame. */
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
  /** Source frames for each frame of this stage. */
  readonly sourceStride: number;
}
const STAGES: readonly Stage[] = [
  { channels: 256, stride: 10, noiseTaps: 7, sourceStride: 6 },
  { channels: 128, stride: 6, noiseTaps: 11, sourceStride: 1 },
];
const RESBLOCK_TAPS = [3, 7, 11];
const DILATIONS = [1, 3, 5];

/** Frames of each stage for each text frame. */
export const STAGE_FRAMES: readonly number[] = STAGES.map((_, i) =>
  STAGES.slice(0, i + 1).reduce((frames, stage) => frames * stage.stride, HIDDEN_FRAMES),
);

/** The norms in the order in which `affine` and the statistics list them. */
export interface NormSlot {
  /** Path of the norm in the shipped graph, e.g. `noise_res.0/adain1.0`. */
  readonly path: string;
  readonly channels: number;
  /** Index of the stage whose frame weights it uses. */
  readonly stage: number;
}

/** Every adaptive norm of the generator, in a fixed order. */
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
 * Builds the graph. Inputs, with H text frames in the window and R rows of weights:
 * - `hidden` [1, 2H, 512], `source` [1, 120H, 22] and `affine` [1, 2 x STATISTICS_LENGTH]: from the front
 *   graph, the first two cut to the window
 * - `weights0` [1, R, 20H], `weights1` [1, R, 120H]: how much each frame of each stage counts. The norms
 *   use the first row; further rows are averages that the caller wants as well
 * - `mean`, `square` [1, 1, STATISTICS_LENGTH]: added to what the first row makes of this window, so that
 *   the weights of row and addition together sum to 1
 * Outputs: `means`, `squares` [1, R, STATISTICS_LENGTH], each channel weighed by each row, without what was
 * added; and `audio` [600H - 15], samples at 24 kHz. The first sample belongs to sample 5 of the window,
 * since only samples that all four overlapping spectrum frames reach are made.
 */
export function buildGenerator(shipped: Graph, arithmetic: Arithmetic): Graph {
  return new GeneratorWriter(new GraphIndex(shipped), arithmetic).write();
}

/** What a norm is given from outside, by the names of values. */
interface NormInput {
  /** Gain-1 and offset of the style. */
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

  /** Cuts the joint inputs of the norms into one piece for each. */
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

  /** Three rounds of norm, Snake, dilated convolution, norm, Snake, convolution, each added to its input. */
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
   * `y = x gain + offset`. By `2sin²a = 1 - cos 2a` and with `t = 2αy + π/2` this is
   * `(t - sin t)/2α + (1 - π/2)/2α`, and t is one multiplication and one addition away from x.
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
    if (!norm) throw new Error(`the generator has no norm ${path}`);
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

  /** One of the dilated convolutions that make up most of the work. */
  #convolution(x: string, path: string, dilation: number): string {
    const layer = readQuantizedLayer(this.#index, this.#index.node(`${NODES}${path}/Conv_quant`));
    return convolutionProduct(this.#g, x, layer, dilation, this.#arithmetic);
  }

  /**
   * A transposed convolution whose kernel is twice its stride: each input frame makes two rows of output,
   * and the second is added to the first of the next frame.
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
    const nothing = g.floats([1, 1, row], new Float32Array(row));
    const sum = g.op('Add', [
      g.op('Concat', [first, nothing], { axis: 1 }),
      g.op('Concat', [nothing, second], { axis: 1 }),
    ]);
    const frames = g.op('Reshape', [sum, g.ints(1, -1, channels)]);
    // The kernel overhangs by half a stride on both sides.
    const trimmed = slice(g, frames, 1, stride / 2, -stride / 2);
    return g.op('Add', [trimmed, g.floats([channels], floatsOf(this.#index.initializer(node.input[2])))]);
  }

  /** Puts frame 1 in front (reflection), and drops the last frame so that the length stays even. */
  #reflectFirstFrame(x: string): string {
    const g = this.#g;
    return g.op('Concat', [slice(g, x, 1, 1, 2), slice(g, x, 1, 0, -1)], { axis: 1 });
  }

  /** The source's own convolution into a stage: 12 taps with stride 6, or a single tap. */
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
      // Frame t needs source frames 6t-3 … 6t+8: two neighbouring groups of six, shifted by three.
      const half = sourceStride / 2;
      const nothing = g.floats([1, half, SOURCE_CHANNELS], new Float32Array(half * SOURCE_CHANNELS));
      const padded = g.op('Concat', [nothing, source, nothing], { axis: 1 });
      const groups = g.op('Reshape', [padded, g.ints(1, -1, sourceStride * SOURCE_CHANNELS)]);
      x = g.op('Concat', [slice(g, groups, 1, 0, -1), slice(g, groups, 1, 1)], { axis: 2 });
    }
    return g.op('Add', [g.op('MatMul', [x, kernel]), bias]);
  }

  /** The last convolution, 128 → 22 channels and 7 taps: one product, then the taps' shifted sum. */
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
    const nothing = g.floats([1, margin, taps * outputs], new Float32Array(margin * taps * outputs));
    const padded = g.op('Concat', [nothing, rows, nothing], { axis: 1 });
    const columns = g.ops('Split', [padded, g.ints(...new Array<number>(taps).fill(outputs))], taps, {
      axis: 2,
    });
    const shifted = columns.map((column, tap) => slice(g, column, 1, tap, tap - taps + 1));
    const sum = shifted.reduce((a, b) => g.op('Add', [a, b]));
    return g.op('Add', [sum, g.floats([outputs], floatsOf(this.#index.initializer(node.input[2])))]);
  }

  /** Log magnitude and phase to samples: inverse STFT of 20 points, hop 5, overlap-add. */
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
    // The shipped basis holds window and 1/N; 4 = overlap of the frames undoes the window's sum.
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
