/** Silero on the ONNX runtime: computes the probability of speech in frames of many streams. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { type GraphInput, type GraphSession, openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from '../shared/frame.ts';
import { batchedSileroGraph, ROW_SAMPLES, STATE_SIZE } from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES, type FrameBatch } from '../shared/protocol.ts';

/**
 * Numbers of rows per run of the graph. A batch is padded to the next size or split into several runs. On one core of a
 * Xeon with AVX-512, a run of 64 rows takes 14 µs per row and a run of one row 100 µs; the published graph takes 49 µs and
 * 240 µs.
 */
const SIZES = [1, 2, 4, 8, 16, 32, 64];
const MAX_ROWS = 64;
/** Frames of a clip per batch. */
const CLIP_BATCH_FRAMES = 8;

/**
 * Loads the published graph of Silero 5 or 6.
 * @param options.threads one, because batches are too small to benefit from more.
 * @throws Error when the file is not such a graph.
 */
export async function loadSilero(path: string, options: RuntimeOptions): Promise<SileroModel> {
  const graph = await openGraph(batchedSileroGraph(await Bun.file(path).bytes()), options);
  const runner = new Runner(graph);
  return new SileroModel(runner, await consistentSizes(runner));
}

/** State of a new stream. */
const INITIAL_STATE = new Float32Array(2 * STATE_SIZE);

export class SileroModel {
  readonly #runner: Runner;
  /** Numbers of rows per run, ascending, that give bit-identical results for a row. */
  readonly sizes: readonly number[];
  /** Hidden and cell state of each stream, concatenated. */
  readonly #states = new Map<number, Float32Array>();

  constructor(runner: Runner, sizes: readonly number[]) {
    this.#runner = runner;
    this.sizes = sizes;
  }

  /**
   * Returns the probability of speech, 0–1, in each frame. The results of a stream are bit-identical regardless of the
   * other streams in the batch. Calls must not overlap.
   */
  async classify({ streams, audio }: FrameBatch): Promise<Float32Samples> {
    const probabilities = new Float32Array(streams.length);
    let pending = Array.from(streams.keys());
    while (pending.length > 0) {
      const { run, rest } = this.#nextRun(streams, pending);
      await this.#classifyRows(streams, audio, run, probabilities);
      pending = rest;
    }
    return probabilities;
  }

  /** Splits rows into one run and the rest. A run has one frame per stream, because the next frame needs its state. */
  #nextRun(streams: Uint32Array, rows: readonly number[]) {
    const maxRows = this.sizes.at(-1) ?? 1;
    const seen = new Set<number>();
    const run: number[] = [];
    const rest: number[] = [];
    for (const row of rows) {
      const stream = streams[row] ?? 0;
      if (run.length < maxRows && !seen.has(stream)) run.push(row);
      else rest.push(row);
      seen.add(stream);
    }
    return { run, rest };
  }

  async #classifyRows(
    streams: Uint32Array,
    audio: Float32Array,
    run: readonly number[],
    probabilities: Float32Array,
  ): Promise<void> {
    const size = this.sizes.find((each) => each >= run.length) ?? run.length;
    const { rows, hidden, cell } = this.#runner;
    for (const [index, row] of run.entries()) {
      writeRow(rows, index, audio.subarray(row * BATCH_ROW_SAMPLES, (row + 1) * BATCH_ROW_SAMPLES));
      const state = this.#states.get(streams[row] ?? 0) ?? INITIAL_STATE;
      hidden.set(state.subarray(0, STATE_SIZE), index * STATE_SIZE);
      cell.set(state.subarray(STATE_SIZE), index * STATE_SIZE);
    }
    const output = await this.#runner.run(size);
    for (const [index, row] of run.entries()) {
      const state = new Float32Array(2 * STATE_SIZE);
      state.set(output.hidden.subarray(index * STATE_SIZE, (index + 1) * STATE_SIZE));
      state.set(output.cell.subarray(index * STATE_SIZE, (index + 1) * STATE_SIZE), STATE_SIZE);
      this.#states.set(streams[row] ?? 0, state);
      // Not in the graph, whose vectorized code may compute the end of a vector differently from its middle.
      probabilities[row] = 1 / (1 + Math.exp(-(output.logits[index] ?? 0)));
    }
  }

  /**
   * Yields the probability of speech, 0–1, in each frame of a clip. Classifies the frames as they are pulled. Must not
   * overlap with {@link classify}, because the clip uses stream 0.
   * @param samples mono, 16 kHz. Padded with silence at both ends.
   */
  async *classifyClip(samples: Float32Samples): AsyncGenerator<number, void, undefined> {
    const count = Math.ceil(samples.length / FRAME_SAMPLES);
    try {
      for (let first = 0; first < count; first += CLIP_BATCH_FRAMES) {
        const audio = rowsOf(samples, first, Math.min(CLIP_BATCH_FRAMES, count - first));
        yield* await this.classify({ streams: new Uint32Array(audio.length / BATCH_ROW_SAMPLES), audio });
      }
    } finally {
      this.dropStreams([0]);
    }
  }

  /** Deletes the state of streams. A later frame with the same id starts a new stream. */
  dropStreams(streams: readonly number[]): void {
    for (const stream of streams) this.#states.delete(stream);
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

/** Returns `count` frames from frame `first` on, each with the samples before it. */
function rowsOf(samples: Float32Samples, first: number, count: number): Float32Samples {
  const rows = new Float32Array(count * BATCH_ROW_SAMPLES);
  for (let i = 0; i < count; i++) {
    const frame = (first + i) * FRAME_SAMPLES;
    const before = Math.max(0, frame - CONTEXT_SAMPLES);
    rows.set(
      samples.subarray(before, frame + FRAME_SAMPLES),
      i * BATCH_ROW_SAMPLES + CONTEXT_SAMPLES - (frame - before),
    );
  }
  return rows;
}

/** Copies context and frame to a row, followed by the mirrored end of the frame. */
function writeRow(rows: Float32Array, row: number, audio: Float32Array): void {
  const start = row * ROW_SAMPLES;
  rows.set(audio, start);
  const end = start + CONTEXT_SAMPLES + FRAME_SAMPLES;
  for (let i = 0; i < CONTEXT_SAMPLES; i++) rows[end + i] = rows[end - 2 - i] ?? 0;
}

/** The graph and the buffers of its largest run. */
class Runner {
  readonly rows = new Float32Array(MAX_ROWS * ROW_SAMPLES);
  readonly hidden = new Float32Array(MAX_ROWS * STATE_SIZE);
  readonly cell = new Float32Array(MAX_ROWS * STATE_SIZE);
  readonly #graph: GraphSession;

  constructor(graph: GraphSession) {
    this.#graph = graph;
  }

  /** Runs the first `size` rows. */
  async run(size: number) {
    const tensor = (data: Float32Array, width: number): GraphInput => ({
      type: 'float32',
      dims: [size, width],
      data: data.subarray(0, size * width),
    });
    const { logit, next_hidden, next_cell } = await this.#graph.run(
      {
        audio: tensor(this.rows, ROW_SAMPLES),
        hidden: tensor(this.hidden, STATE_SIZE),
        cell: tensor(this.cell, STATE_SIZE),
      },
      ['logit', 'next_hidden', 'next_cell'],
    );
    return { logits: logit.data, hidden: next_hidden.data, cell: next_cell.data };
  }

  close(): Promise<void> {
    return this.#graph.close();
  }
}

/**
 * Returns the numbers of rows per run for which the kernels of this processor give bit-identical results for a row at any
 * index. Kernels differ between processors and sizes (a product with one row often has a separate routine), so this is
 * measured at the start. Sizes whose results differ from those of the largest size are not used.
 */
async function consistentSizes(runner: Runner): Promise<readonly number[]> {
  const found: { size: number; bits: string }[] = [];
  for (const size of SIZES) {
    const bits = await distinctResults(runner, size);
    if (bits.size === 1) found.push({ size, bits: [...bits].join() });
  }
  const largest = found.at(-1);
  return found.filter(({ bits }) => bits === largest?.bits).map(({ size }) => size);
}

/** Returns the distinct results of a run with equal rows: more than one if results depend on the index of a row. */
async function distinctResults(runner: Runner, size: number): Promise<Set<string>> {
  for (let row = 0; row < size; row++) {
    for (let i = 0; i < ROW_SAMPLES; i++) runner.rows[row * ROW_SAMPLES + i] = 0.3 * Math.sin(i * i);
    for (let i = 0; i < STATE_SIZE; i++) {
      runner.hidden[row * STATE_SIZE + i] = Math.sin(i * 12.9898);
      runner.cell[row * STATE_SIZE + i] = 2 * Math.cos(i * 78.233);
    }
  }
  const { logits, hidden, cell } = await runner.run(size);
  const bits = new Set<string>();
  for (let row = 0; row < size; row++) {
    const state = [hidden, cell].map((half) => half.slice(row * STATE_SIZE, (row + 1) * STATE_SIZE));
    bits.add(
      [logits.slice(row, row + 1), ...state].map((each) => Buffer.from(each.buffer).toString('hex')).join(),
    );
  }
  return bits;
}
