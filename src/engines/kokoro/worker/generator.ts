/** Kokoro's generator on ONNX Runtime: acoustic features to samples at 24 kHz. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { FrameWindow } from '../../../inference/runtime/frame-windows.ts';
import type { GraphInput, GraphOutput, GraphSession } from '../../../inference/runtime/runtime.ts';
import {
  HIDDEN_FRAMES,
  HOP_SAMPLES,
  SOURCE_FRAMES,
  STAGE_FRAMES,
  STATISTICS_LENGTH,
} from '../import/generator-graph.ts';
import type { Utterance } from './acoustic-model.ts';
import { countKinds, FRAME_KINDS, type MeasuredUtterance, type WindowStatistics } from './norm-statistics.ts';

/** Samples of one text frame: 25 ms at 24 kHz. */
const FRAME_SAMPLES = SOURCE_FRAMES * HOP_SAMPLES;

export class KokoroGenerator {
  readonly #graph: GraphSession;

  constructor(graph: GraphSession) {
    this.#graph = graph;
  }

  /** Decodes the samples of a window, without its context. Decode the windows of an utterance in order. */
  async decodeWindow(
    utterance: Utterance,
    window: FrameWindow,
    statistics: WindowStatistics,
  ): Promise<Float32Samples> {
    const { contextStart, contextEnd, start, end } = window;
    const input = statistics.inputFor(window);
    const { audio, means, squares } = await this.#runGraph(utterance, contextStart, contextEnd, {
      mean: vector(input.mean),
      square: vector(input.square),
      ...weightInputs(1, (perFrame) => {
        const row = new Float32Array((contextEnd - contextStart) * perFrame);
        row.fill(input.share / perFrame, (start - contextStart) * perFrame, (end - contextStart) * perFrame);
        return row;
      }),
    });
    statistics.recordWindow(window, input.share, { mean: means.data, square: squares.data });
    return framesOf(audio.data, start - contextStart, end - contextStart);
  }

  /**
   * Decodes a whole utterance in one step, with norms over all frames as in training, and measures the norms. This is
   * the reference for decoding in windows.
   * @param kinds kind of each half frame, see norm-statistics.ts.
   */
  async decodeWhole(
    utterance: Utterance,
    kinds: Uint8Array,
  ): Promise<{ audio: Float32Samples; measured: MeasuredUtterance }> {
    const counts = countKinds(kinds);
    const zeros = vector(new Float32Array(STATISTICS_LENGTH));
    const { audio, means, squares } = await this.#runGraph(utterance, 0, utterance.frames, {
      mean: zeros,
      square: zeros,
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

  #runGraph(utterance: Utterance, start: number, end: number, norms: Readonly<Record<string, GraphInput>>) {
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

/** The weight inputs of the graph, one per stage, each [1, rows, frames of the stage]. */
function weightInputs(rows: number, make: (perFrame: number) => Float32Array): Record<string, GraphInput> {
  return Object.fromEntries(
    STAGE_FRAMES.map((perFrame, stage) => {
      const data = make(perFrame);
      return [`weights${stage}`, { type: 'float32', dims: [1, rows, data.length / rows], data }];
    }),
  );
}

/** [1 + FRAME_KINDS, frames]: a uniform row, then one row per kind that averages the frames of that kind. */
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

/** Frames [start, end) of a tensor [1, frames x perFrame, channels]; a view, not a copy. */
function cutFrames(tensor: GraphOutput, perFrame: number, start: number, end: number): GraphInput {
  const channels = tensor.dims[2] ?? 0;
  return {
    type: 'float32',
    dims: [1, (end - start) * perFrame, channels],
    data: tensor.data.subarray(start * perFrame * channels, end * perFrame * channels),
  };
}

/**
 * Samples of the frames [start, end) of a window. The first sample of the graph is sample HOP_SAMPLES of the window, and
 * the last few samples of the window are not computed. They are missing only at both ends of an utterance, where they
 * are less than a millisecond of silence.
 */
function framesOf(audio: Float32Samples, start: number, end: number): Float32Samples {
  const first = start * FRAME_SAMPLES - HOP_SAMPLES;
  const samples = new Float32Array((end - start) * FRAME_SAMPLES);
  samples.set(audio.subarray(Math.max(0, first), first + samples.length), Math.max(0, -first));
  limitPeaks(samples);
  return samples;
}

/** Level above which peaks are compressed, relative to full scale. */
const KNEE = 0.9;

/** Soft limiter. The model sometimes exceeds full scale, where hard clipping would be audible. */
function limitPeaks(samples: Float32Samples): void {
  samples.forEach((sample, i) => {
    const excess = Math.abs(sample) - KNEE;
    if (excess > 0) samples[i] = Math.sign(sample) * (1 - (1 - KNEE) * Math.exp(-excess / (1 - KNEE)));
  });
}
