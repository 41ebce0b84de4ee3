/** Kokoro's generator on the ONNX runtime: frames of an utterance to samples. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { FrameWindow } from '../../runtime/frame-windows.ts';
import type { GraphInput, GraphOutput, GraphSession } from '../../runtime/runtime.ts';
import {
  HIDDEN_FRAMES,
  HOP_SAMPLES,
  SOURCE_FRAMES,
  STAGE_FRAMES,
  STATISTICS_LENGTH,
} from '../import/generator-graph.ts';
import type { Utterance } from './front.ts';
import {
  countKinds,
  FRAME_KINDS,
  type MeasuredUtterance,
  type RunningStatistics,
} from './norm-statistics.ts';

/** Samples of one text frame: 25 ms at 24 kHz. */
const FRAME_SAMPLES = SOURCE_FRAMES * HOP_SAMPLES;

export class KokoroGenerator {
  readonly #graph: GraphSession;

  constructor(graph: GraphSession) {
    this.#graph = graph;
  }

  /** Samples of a window's frames, without its context; the windows of an utterance go in order. */
  async decodeWindow(
    utterance: Utterance,
    window: FrameWindow,
    statistics: RunningStatistics,
  ): Promise<Float32Samples> {
    const { contextStart, contextEnd, start, end } = window;
    const before = statistics.before(window);
    const { audio, means, squares } = await this.#run(utterance, contextStart, contextEnd, {
      mean: vector(before.mean),
      square: vector(before.square),
      ...weightInputs(1, (perFrame) => {
        const row = new Float32Array((contextEnd - contextStart) * perFrame);
        row.fill(before.share / perFrame, (start - contextStart) * perFrame, (end - contextStart) * perFrame);
        return row;
      }),
    });
    statistics.after(window, before.share, { mean: means.data, square: squares.data });
    return framesOf(audio.data, start - contextStart, end - contextStart);
  }

  /**
   * Decodes a whole utterance in one pass, with norms over all of it as the model was trained, and measures
   * them. This is the reference that windows are compared with.
   * @param kinds of half frames, see norm-statistics.ts.
   */
  async decodeWhole(
    utterance: Utterance,
    kinds: Uint8Array,
  ): Promise<{ audio: Float32Samples; measured: MeasuredUtterance }> {
    const counts = countKinds(kinds);
    const nothing = vector(new Float32Array(STATISTICS_LENGTH));
    const { audio, means, squares } = await this.#run(utterance, 0, utterance.frames, {
      mean: nothing,
      square: nothing,
      ...weightInputs(1 + FRAME_KINDS, (perFrame) => kindWeights(kinds, counts, perFrame / HIDDEN_FRAMES)),
    });
    return {
      audio: framesOf(audio.data, 0, utterance.frames),
      measured: {
        counts,
        mean: means.data.slice(STATISTICS_LENGTH),
        square: squares.data.slice(STATISTICS_LENGTH),
      },
    };
  }

  close(): Promise<void> {
    return this.#graph.close();
  }

  #run(utterance: Utterance, start: number, end: number, norms: Readonly<Record<string, GraphInput>>) {
    return this.#graph.run(
      {
        hidden: cutFrames(utterance.hidden, HIDDEN_FRAMES, start, end),
        source: cutFrames(utterance.source, SOURCE_FRAMES, start, end),
        affine: { type: 'float32', ...utterance.affine },
        ...norms,
      },
      ['audio', 'means', 'squares'],
    );
  }
}

/** The graph's weight inputs: for each stage some rows over its frames. */
function weightInputs(rows: number, make: (perFrame: number) => Float32Array): Record<string, GraphInput> {
  return Object.fromEntries(
    STAGE_FRAMES.map((perFrame, stage) => {
      const data = make(perFrame);
      return [`weights${stage}`, { type: 'float32', dims: [1, rows, data.length / rows], data }];
    }),
  );
}

/** [1 + FRAME_KINDS, frames]: a uniform row, then for each kind a row that averages its frames. */
function kindWeights(kinds: Uint8Array, counts: readonly number[], repeat: number): Float32Array {
  const frames = kinds.length * repeat;
  const weights = new Float32Array((1 + FRAME_KINDS) * frames).fill(1 / frames, 0, frames);
  kinds.forEach((kind, i) => {
    const start = (1 + kind) * frames + i * repeat;
    weights.fill(1 / ((counts[kind] ?? 1) * repeat), start, start + repeat);
  });
  return weights;
}

function vector(data: Float32Array): GraphInput {
  return { type: 'float32', dims: [1, 1, data.length], data };
}

/** Rows of [1, frames x perFrame, channels] that belong to some frames; a view, not a copy. */
function cutFrames(tensor: GraphOutput, perFrame: number, start: number, end: number): GraphInput {
  const channels = tensor.dims[2] ?? 0;
  return {
    type: 'float32',
    dims: [1, (end - start) * perFrame, channels],
    data: tensor.data.subarray(start * perFrame * channels, end * perFrame * channels),
  };
}

/**
 * Samples of some frames out of a window's. The graph's first sample is number HOP_SAMPLES of its window, and
 * the window's last few are not made; only the very ends of an utterance lack them, less than a millisecond of
 * silence.
 */
function framesOf(audio: Float32Samples, start: number, end: number): Float32Samples {
  const first = start * FRAME_SAMPLES - HOP_SAMPLES;
  const samples = new Float32Array((end - start) * FRAME_SAMPLES);
  samples.set(audio.subarray(Math.max(0, first), first + samples.length), Math.max(0, -first));
  bendPeaks(samples);
  return samples;
}

/** Level above which peaks are bent, of full scale. */
const KNEE = 0.9;

/** The model overshoots full scale now and then; a smooth bend below it is not heard, a cut-off peak is. */
function bendPeaks(samples: Float32Samples): void {
  samples.forEach((sample, i) => {
    const over = Math.abs(sample) - KNEE;
    if (over > 0) samples[i] = Math.sign(sample) * (1 - (1 - KNEE) * Math.exp(-over / (1 - KNEE)));
  });
}
