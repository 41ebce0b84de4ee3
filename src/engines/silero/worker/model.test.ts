import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { loadConfig } from '../../../config/config.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { openGraph } from '../../runtime/runtime.ts';
import { sileroFile } from '../shared/file.ts';
import { batchedSileroGraph, CONTEXT_SAMPLES, FRAME_SAMPLES, STATE_SIZE } from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES } from '../shared/protocol.ts';
import { loadSilero, type SileroModel } from './model.ts';

const RUNTIME = { provider: 'cpu', threads: 1 } as const;
const file = sileroFile(loadConfig(process.env).modelsDir);

let model: SileroModel;
beforeAll(async () => {
  model = await loadSilero(file, RUNTIME);
});
afterAll(() => model?.close());

/** A glottal source through moving formants, roughly: the model takes some of it for speech. */
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

/** Rows of a stream's frames, each with the end of the one before. */
function rowsOf(samples: Float32Array): Float32Samples[] {
  const rows: Float32Samples[] = [];
  for (let at = 0; at + BATCH_ROW_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
    rows.push(samples.slice(at, at + BATCH_ROW_SAMPLES) as Float32Samples);
  }
  return rows;
}

function batchOf(rows: readonly { stream: number; row: Float32Samples }[]) {
  const audio = new Float32Array(rows.length * BATCH_ROW_SAMPLES);
  for (const [i, { row }] of rows.entries()) audio.set(row, i * BATCH_ROW_SAMPLES);
  return { streams: Uint32Array.from(rows, ({ stream }) => stream), audio };
}

let lastStream = 0;
/** Probabilities of one stream that has every run to itself. */
async function alone(rows: readonly Float32Samples[]): Promise<number[]> {
  const stream = ++lastStream;
  const probabilities: number[] = [];
  for (const row of rows) probabilities.push(...(await model.judge(batchOf([{ stream, row }]))));
  model.forget([stream]);
  return probabilities;
}

it('gives the probabilities of the published graph', async () => {
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
  const ours = await alone(rows);
  expect(Math.max(...ours.map((p, i) => Math.abs(p - (expected[i] ?? Number.NaN))))).toBeLessThan(1e-4);
});

describe('batches', () => {
  it('have more than one size that agrees on this processor', () => {
    expect(model.sizes.length).toBeGreaterThan(1);
  });

  it('give a stream the same bits whatever else is in them', async () => {
    const voices = Array.from({ length: 90 }, (_, seed) => rowsOf(voiceLike(4, seed)));
    const expected: number[][] = [];
    for (const rows of voices) expected.push(await alone(rows));
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...voices.keys()], { minLength: 1 }),
        fc.integer({ min: 1, max: 4 }),
        async (chosen, framesEach) => {
          const streams = chosen.map((voice) => ({ voice, stream: ++lastStream }));
          const heard = new Map(streams.map(({ stream }) => [stream, [] as number[]]));
          for (let from = 0; from < 4; from += framesEach) {
            const rows = streams.flatMap(({ voice, stream }) =>
              (voices[voice] ?? []).slice(from, from + framesEach).map((row) => ({ stream, row })),
            );
            const probabilities = await model.judge(batchOf(rows));
            for (const [i, { stream }] of rows.entries()) heard.get(stream)?.push(probabilities[i] ?? 0);
          }
          for (const { voice, stream } of streams) expect(heard.get(stream)).toEqual(expected[voice]);
          model.forget(streams.map(({ stream }) => stream));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('begin a stream anew after it was forgotten', async () => {
    const rows = rowsOf(voiceLike(6, 3));
    const stream = ++lastStream;
    const once = await model.judge(batchOf(rows.map((row) => ({ stream, row }))));
    const goingOn = await model.judge(batchOf(rows.map((row) => ({ stream, row }))));
    model.forget([stream]);
    const again = await model.judge(batchOf(rows.map((row) => ({ stream, row }))));
    expect(again).toEqual(once);
    expect(goingOn).not.toEqual(once);
  });
});

describe('files that are no Silero model', () => {
  it('another graph is named as such', async () => {
    const graph = batchedSileroGraph(await Bun.file(file).bytes());
    expect(() => batchedSileroGraph(graph)).toThrow('not a Silero model of version 5 or 6');
  });

  it('a damaged file is an error', async () => {
    const path = join(await tempDir(), 'cut.onnx');
    await Bun.write(path, (await Bun.file(file).bytes()).slice(0, 100_000));
    await expect(loadSilero(path, RUNTIME)).rejects.toThrow();
  });
});
