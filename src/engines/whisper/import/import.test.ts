import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tinyCheckpoint, tinyWhisper } from '../../../../test/generators/tiny-whisper.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { decode, type Matrix, type Seen } from '../../../../test/reference/whisper-transformer.ts';
import type { GraphOutput } from '../../../inference/runtime/runtime.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { sha256File } from '../../../kit/storage/content-hash.ts';
import { openImportedGraphs } from '../graphs/imported-graphs.ts';
import type { EncodedWindow, WhisperGraphs } from '../shared/graphs.ts';
import { Ct2Checkpoint } from './ct2-checkpoint.ts';
import { importWhisper } from './import.ts';
import { whisperWeights } from './weights.ts';

/** Imports a checkpoint with the weights of a tiny model and runs its graphs. */

const POSITIONS = 1_500;
const weights = tinyWhisper({ audioPositions: POSITIONS, textPositions: 16, vocabulary: 50 });
const CPU = { provider: 'cpu', threads: 1 } as const;
const TOKENS = [3, 17, 0, 49];

/** Creates a folder with the checkpoint. */
async function storeCheckpoint() {
  const dir = await tempDir();
  const checkpoint = join(dir, 'model.bin');
  await Bun.write(checkpoint, tinyCheckpoint(weights));
  const sha256 = await sha256File(checkpoint);
  return { dir, source: { checkpoint, sha256, alignmentHeads: undefined } };
}

function noise(frames: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(3);
  return Float32Array.from({ length: weights.melBands * frames }, () => 2 * random() - 1);
}

/** Converts [1, heads, n, size] to rows of the channels of all heads. */
function rowsOf({ tensors }: EncodedWindow, name: string): Matrix {
  const { dims, data } = tensors[name] as GraphOutput;
  const [, heads = 0, n = 0, size = 0] = dims;
  return Array.from({ length: n }, (_, row) =>
    Float64Array.from(
      { length: heads * size },
      (_, c) => data[(Math.floor(c / size) * n + row) * size + (c % size)] ?? Number.NaN,
    ),
  );
}

function apart(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  return Math.max(...Array.from(actual, (value, i) => Math.abs(value - (expected[i] ?? Number.NaN))));
}

test('reads the weights by name and splits query, key and value', () => {
  expect(whisperWeights(new Ct2Checkpoint(tinyCheckpoint(weights)))).toEqual(weights);
});

test('names another model in the error', async () => {
  const bytes = tinyCheckpoint(weights);
  bytes.set(new TextEncoder().encode('Marian'), 6);
  expect(() => whisperWeights(new Ct2Checkpoint(bytes))).toThrow('is a MarianrSpec, not a WhisperSpec');
});

describe('importWhisper', () => {
  test('gives graphs that encode, decode and align like the reference', async () => {
    const { dir, source } = await storeCheckpoint();
    const imported = await importWhisper(dir, { ...source, alignmentHeads: [[1, 1]] }, 'float32');
    expect(imported.shape).toEqual({
      width: 32,
      heads: 2,
      decoderLayers: 2,
      melBands: 80,
      textPositions: 16,
    });
    const graphs = await openImportedGraphs(imported, CPU);
    try {
      const window = await graphs.encode(noise(40), 40);
      const cross = [0, 1].map(
        (layer): Seen => ({
          keys: rowsOf(window, `cross_key_${layer}`),
          values: rowsOf(window, `cross_value_${layer}`),
          bias: [...(window.tensors.cross_bias?.data ?? [])],
        }),
      );
      const { logits, attention } = decode(weights, cross, TOKENS);
      const first = await graphs.step(window, TOKENS.slice(0, 2));
      expect(apart(first.logits, logits[1] ?? [])).toBeLessThan(1e-3);
      const second = await graphs.step(window, TOKENS.slice(2, 3), first.cache);
      expect(apart(second.logits, logits[2] ?? [])).toBeLessThan(1e-3);
      // A cache can be reused, because steps do not modify it.
      expect((await graphs.step(window, TOKENS.slice(2, 3), first.cache)).logits).toEqual(second.logits);
      const aligned = await graphs.align(window, TOKENS);
      expect(aligned).toMatchObject({ heads: 1, rows: TOKENS.length, frames: 20 + 148 });
      const expected = (attention[1]?.[1] ?? []).flatMap((row) => [...row]);
      expect(apart(aligned?.data ?? [], expected)).toBeLessThan(1e-4);
    } finally {
      await graphs.close();
      await graphs.close();
    }
  });

  test('caches the middle of every ten positions of the silence', async () => {
    const { dir, source } = await storeCheckpoint();
    const graphs = await openImportedGraphs(await importWhisper(dir, source, 'float32'), CPU);
    const silence = (frames: number) => graphs.encode(new Float32Array(80 * frames).fill(-0.6), frames);
    const whole = rowsOf(await silence(2 * POSITIONS), 'cross_key_1');
    const short = await silence(40);
    const cached = rowsOf(short, 'cross_key_1').slice(20);
    expect(cached).toHaveLength(148);
    for (const [i, row] of cached.entries())
      expect(apart(row, whole[20 + 10 * i + 5] ?? [])).toBeLessThan(1e-5);
    const bias = [...(short.tensors.cross_bias?.data ?? [])];
    expect(bias).toEqual([...new Array(20).fill(0), ...new Array(148).fill(Math.fround(Math.log(10)))]);
    await graphs.close();
  });

  test('aligns with the heads of the upper half by default', async () => {
    const { dir, source } = await storeCheckpoint();
    const graphs = await openImportedGraphs(await importWhisper(dir, source, 'int8'), CPU);
    const window = await graphs.encode(noise(40), 40);
    expect(await graphs.align(window, TOKENS)).toMatchObject({ heads: 2, rows: 4, frames: 20 + 148 });
    await graphs.close();
  });

  test('reuses an import, and imports again for another arithmetic or other heads', async () => {
    const { dir, source } = await storeCheckpoint();
    const first = await importWhisper(dir, source, 'int8');
    const folders = () =>
      readdir(join(dir, 'imports/whisper')).then((all) => all.filter((name) => name !== 'lock').length);
    expect(await importWhisper(dir, source, 'int8')).toEqual(first);
    expect(await folders()).toBe(1);
    const others = [
      await importWhisper(dir, source, 'uint8'),
      await importWhisper(dir, { ...source, alignmentHeads: [[0, 0]] }, 'int8'),
    ];
    expect(new Set([first, ...others].map(({ encoder }) => encoder)).size).toBe(3);
  });

  test('rejects a missing file and a file that is not a model', async () => {
    const dir = await tempDir();
    await mkdir(dir, { recursive: true });
    const checkpoint = join(dir, 'model.bin');
    const source = { checkpoint, sha256: '0'.repeat(64), alignmentHeads: undefined };
    await expect(importWhisper(dir, source, 'int8')).rejects.toThrow(/no such file|ENOENT/i);
    await Bun.write(checkpoint, 'GIF89a and more');
    await expect(importWhisper(dir, source, 'int8')).rejects.toThrow('not a CTranslate2 model');
  });

  test('gives graphs whose results do not depend on earlier runs', async () => {
    const { dir, source } = await storeCheckpoint();
    const graphs = await openImportedGraphs(await importWhisper(dir, source, 'int8'), CPU);
    const first = await logitsOf(graphs, 40);
    await logitsOf(graphs, 200);
    expect(await logitsOf(graphs, 40)).toEqual(first);
    await graphs.close();
  });
});

async function logitsOf(graphs: WhisperGraphs, frames: number): Promise<Float32Array> {
  return (await graphs.step(await graphs.encode(noise(frames), frames), TOKENS)).logits;
}
