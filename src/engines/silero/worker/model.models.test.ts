import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { loadConfig } from '../../../config/config.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { openGraph } from '../../../inference/runtime/runtime.ts';
import { sileroFile } from '../shared/file.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from '../shared/frame.ts';
import { batchedSileroGraph, STATE_SIZE } from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES } from '../shared/protocol.ts';
import { loadSilero, type SileroModel } from './model.ts';

const RUNTIME = { provider: 'cpu', threads: 1 } as const;
const file = sileroFile(loadConfig(process.env).modelsDir);

let model: SileroModel;
beforeAll(async () => {
  model = await loadSilero(file, RUNTIME);
});
afterAll(() => model?.close());

/** Approximates a glottal source with moving formants. The model classifies parts of it as speech. */
function voiceLike(frames: number, seed: number): Float32Samples {
  return Float32Array.from({ length: frames * FRAME_SAMPLES + CONTEXT_SAMPLES }, (_, i) => {
    const t = i / 16_000;
    const pitch = 2 * Math.PI * (110 + seed * 7) * t;
    let sample = 0;
    for (let k = 1; k < 20; k++) {
      const formant = 500 + 300 * Math.sin(2 * Math.PI * (3 + seed) * t);
      sample += Math.sin(k * pitch) / (1 + (((110 + seed * 7) * k - formant) / 200) ** 2);
    }
    return 0.1 * sample * (0.6 + 0.4 * Math.sin(2 * Math.PI * 4 * t));
  });
}

/** Rows of the frames of a stream, each with the end of the previous frame. */
function rowsOf(samples: Float32Array): Float32Samples[] {
  const rows: Float32Samples[] = [];
  for (let start = 0; start + BATCH_ROW_SAMPLES <= samples.length; start += FRAME_SAMPLES) {
    rows.push(samples.slice(start, start + BATCH_ROW_SAMPLES) as Float32Samples);
  }
  return rows;
}

function batchOf(rows: readonly { stream: number; row: Float32Samples }[]) {
  const audio = new Float32Array(rows.length * BATCH_ROW_SAMPLES);
  for (const [i, { row }] of rows.entries()) audio.set(row, i * BATCH_ROW_SAMPLES);
  return { streams: Uint32Array.from(rows, ({ stream }) => stream), audio };
}

let lastStream = 0;
/** Probabilities of one stream, classified one frame per batch. */
async function classifyAlone(rows: readonly Float32Samples[]): Promise<number[]> {
  const stream = ++lastStream;
  const probabilities: number[] = [];
  for (const row of rows) probabilities.push(...(await model.classify(batchOf([{ stream, row }]))));
  model.dropStreams([stream]);
  return probabilities;
}

it('returns the probabilities of the published graph', async () => {
  const published = await openGraph(file, RUNTIME);
  const rows = rowsOf(voiceLike(40, 1));
  let state = new Float32Array(2 * STATE_SIZE);
  const expected: number[] = [];
  for (const data of rows) {
    const { output, stateN } = await published.run(
      {
        input: { type: 'float32', dims: [1, BATCH_ROW_SAMPLES], data },
        state: { type: 'float32', dims: [2, 1, STATE_SIZE], data: state },
        sr: { type: 'int64', dims: [], data: BigInt64Array.of(16_000n) },
      },
      ['output', 'stateN'],
    );
    state = stateN.data;
    expected.push(output.data[0] ?? Number.NaN);
  }
  await published.close();
  expect(Math.max(...expected)).toBeGreaterThan(0.5);
  const actual = await classifyAlone(rows);
  expect(Math.max(...actual.map((p, i) => Math.abs(p - (expected[i] ?? Number.NaN))))).toBeLessThan(1e-4);
});

describe('batches', () => {
  it('have several consistent sizes on this processor', () => {
    expect(model.sizes.length).toBeGreaterThan(1);
  });

  it('give bit-identical results for a stream regardless of other streams', async () => {
    const voices = Array.from({ length: 90 }, (_, seed) => rowsOf(voiceLike(4, seed)));
    const expected: number[][] = [];
    for (const rows of voices) expected.push(await classifyAlone(rows));
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...voices.keys()], { minLength: 1 }),
        fc.integer({ min: 1, max: 4 }),
        async (chosen, framesEach) => {
          const streams = chosen.map((voice) => ({ voice, stream: ++lastStream }));
          const results = new Map(streams.map(({ stream }) => [stream, [] as number[]]));
          for (let from = 0; from < 4; from += framesEach) {
            const rows = streams.flatMap(({ voice, stream }) =>
              (voices[voice] ?? []).slice(from, from + framesEach).map((row) => ({ stream, row })),
            );
            const probabilities = await model.classify(batchOf(rows));
            for (const [i, { stream }] of rows.entries()) results.get(stream)?.push(probabilities[i] ?? 0);
          }
          for (const { voice, stream } of streams) expect(results.get(stream)).toEqual(expected[voice]);
          model.dropStreams(streams.map(({ stream }) => stream));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('start a new stream for an id that was dropped', async () => {
    const rows = rowsOf(voiceLike(6, 3));
    const stream = ++lastStream;
    const first = await model.classify(batchOf(rows.map((row) => ({ stream, row }))));
    const continued = await model.classify(batchOf(rows.map((row) => ({ stream, row }))));
    model.dropStreams([stream]);
    const again = await model.classify(batchOf(rows.map((row) => ({ stream, row }))));
    expect(again).toEqual(first);
    expect(continued).not.toEqual(first);
  });
});

describe('invalid model files', () => {
  it('rejects another graph', async () => {
    const graph = batchedSileroGraph(await Bun.file(file).bytes());
    expect(() => batchedSileroGraph(graph)).toThrow('not a Silero model of version 5 or 6');
  });

  it('rejects a truncated file', async () => {
    const path = join(await tempDir(), 'cut.onnx');
    await Bun.write(path, (await Bun.file(file).bytes()).slice(0, 100_000));
    await expect(loadSilero(path, RUNTIME)).rejects.toThrow();
  });
});
