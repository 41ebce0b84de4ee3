/** Silero on the ONNX runtime: frames of many streams to probabilities of speech. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { RuntimeOptions } from '../../pool/model.ts';
import { type GraphInput, type GraphSession, openGraph } from '../../runtime/runtime.ts';
import {
  batchedSileroGraph,
  CONTEXT_SAMPLES,
  FRAME_SAMPLES,
  ROW_SAMPLES,
  STATE_SIZE,
} from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES, type FrameBatch } from '../shared/protocol.ts';

/**
 * Rows of one run of the graph; a batch is padded to the next size, or cut into several. A run of 64 rows
 * takes 14 µs a row, of one row 100 µs, on one core of a Xeon with AVX-512; the published graph 49 µs and 240.
 */
const SIZES = [1, 2, 4, 8, 16, 32, 64];
const MAX_ROWS = 64;
/** Frames of a clip that are judged before they are looked at. */
const FRAMES_AT_ONCE = 8;

/**
 * Loads the published graph of Silero 5 or 6.
 * @param options.threads one: a batch is too small to gain by more.
 * @throws Error when the file is not such a graph.
 */
export async function loadSilero(path: string, options: RuntimeOptions): Promise<SileroModel> {
  const graph = await openGraph(batchedSileroGraph(await Bun.file(path).bytes()), options);
  const runner = new Runner(graph);
  return new SileroModel(runner, await sizesThatAgree(runner));
}

/** State of a stream of which nothing was heard. */
const START = new Float32Array(2 * STATE_SIZE);

export class SileroModel {
  readonly #runner: Runner;
  /** Sizes of a run, growing, each of which gives a row the very same bits. */
  readonly sizes: readonly number[];
  /** Hidden and cell state, one after the other. */
  readonly #states = new Map<number, Float32Array>();

  constructor(runner: Runner, sizes: readonly number[]) {
    this.#runner = runner;
    this.sizes = sizes;
  }

  /**
   * Probability of speech, 0–1, in each frame. What a stream gets does not depend on the other streams of
   * the batch, to the bit. Not to be called again before it has resolved.
   */
  async judge({ streams, audio }: FrameBatch): Promise<Float32Samples> {
    const probabilities = new Float32Array(streams.length);
    let waiting = Array.from(streams.keys());
    while (waiting.length > 0) {
      const { run, later } = this.#nextRun(streams, waiting);
      await this.#run(streams, audio, run, probabilities);
      waiting = later;
    }
    return probabilities;
  }

  /** Splits rows into those that can run together and the rest: a stream's next frame needs the state after this. */
  #nextRun(streams: Uint32Array, rows: readonly number[]) {
    const longest = this.sizes.at(-1) ?? 1;
    const seen = new Set<number>();
    const run: number[] = [];
    const later: number[] = [];
    for (const row of rows) {
      const stream = streams[row] ?? 0;
      if (run.length < longest && !seen.has(stream)) run.push(row);
      else later.push(row);
      seen.add(stream);
    }
    return { run, later };
  }

  async #run(
    streams: Uint32Array,
    audio: Float32Array,
    run: readonly number[],
    probabilities: Float32Array,
  ): Promise<void> {
    const size = this.sizes.find((each) => each >= run.length) ?? run.length;
    const { rows, hidden, cell } = this.#runner;
    for (const [place, row] of run.entries()) {
      writeRow(rows, place, audio.subarray(row * BATCH_ROW_SAMPLES, (row + 1) * BATCH_ROW_SAMPLES));
      const state = this.#states.get(streams[row] ?? 0) ?? START;
      hidden.set(state.subarray(0, STATE_SIZE), place * STATE_SIZE);
      cell.set(state.subarray(STATE_SIZE), place * STATE_SIZE);
    }
    const after = await this.#runner.run(size);
    for (const [place, row] of run.entries()) {
      const state = new Float32Array(2 * STATE_SIZE);
      state.set(after.hidden.subarray(place * STATE_SIZE, (place + 1) * STATE_SIZE));
      state.set(after.cell.subarray(place * STATE_SIZE, (place + 1) * STATE_SIZE), STATE_SIZE);
      this.#states.set(streams[row] ?? 0, state);
      // Here and not in the graph, where the end of a vector may be computed by other code than its middle.
      probabilities[row] = 1 / (1 + Math.exp(-(after.logits[place] ?? 0)));
    }
  }

  /**
   * Probability of speech in each frame of a whole clip, judged as they are pulled. Not to be mixed with
   * {@link judge}, which would take the clip for its stream 0.
   * @param samples mono, 16 kHz; silence lies beyond both ends.
   */
  async *clip(samples: Float32Samples): AsyncGenerator<number, void, undefined> {
    const count = Math.ceil(samples.length / FRAME_SAMPLES);
    try {
      for (let first = 0; first < count; first += FRAMES_AT_ONCE) {
        const audio = rowsOf(samples, first, Math.min(FRAMES_AT_ONCE, count - first));
        yield* await this.judge({ streams: new Uint32Array(audio.length / BATCH_ROW_SAMPLES), audio });
      }
    } finally {
      this.forget([0]);
    }
  }

  /** Frees the state of streams; one that is named again begins anew. */
  forget(streams: readonly number[]): void {
    for (const stream of streams) this.#states.delete(stream);
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

/** Frames from `first` on, each with the samples before it. */
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

/** Copies context and frame into a row, and mirrors the end of the frame after it. */
function writeRow(rows: Float32Array, row: number, audio: Float32Array): void {
  const start = row * ROW_SAMPLES;
  rows.set(audio, start);
  const end = start + CONTEXT_SAMPLES + FRAME_SAMPLES;
  for (let i = 0; i < CONTEXT_SAMPLES; i++) rows[end + i] = rows[end - 2 - i] ?? 0;
}

/** The graph with room for its largest run. */
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
 * The sizes of a run in which this processor's kernels give a row the same bits, wherever it stands. Kernels
 * differ between processors and may differ between sizes (a product of one row is often a routine of its
 * own), so it is tried at the start: the largest size decides, and sizes that disagree are not used.
 */
async function sizesThatAgree(runner: Runner): Promise<readonly number[]> {
  const found: { size: number; bits: string }[] = [];
  for (const size of SIZES) {
    const bits = await bitsOfEqualRows(runner, size);
    if (bits.size === 1) found.push({ size, bits: [...bits].join() });
  }
  const largest = found.at(-1);
  return found.filter(({ bits }) => bits === largest?.bits).map(({ size }) => size);
}

/** Results of a run whose rows are all the same; more than one when the place of a row matters. */
async function bitsOfEqualRows(runner: Runner, size: number): Promise<Set<string>> {
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
