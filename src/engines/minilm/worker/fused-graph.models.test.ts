import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import { encodeModel } from '../../../inference/onnx/onnx-proto.ts';
import { openGraph } from '../../../inference/runtime/runtime.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { DIMENSIONS, fusedGraph, MAX_TOKENS } from './fused-graph.ts';

const RUNTIME = { provider: 'cpu', threads: 2 } as const;
const FIRST_WORD = 1000;

/** Deterministic token ids: rows of these lengths, padded to the longest. */
function inputsOf(lengths: readonly number[]) {
  const dims = [lengths.length, Math.max(...lengths)];
  const size = lengths.length * Math.max(...lengths);
  const ids = new BigInt64Array(size);
  const mask = new BigInt64Array(size);
  for (const [row, length] of lengths.entries()) {
    for (let token = 0; token < length; token += 1) {
      const at = row * (dims[1] ?? 0) + token;
      ids[at] = BigInt(FIRST_WORD + ((at * 7919) % 28_000));
      mask[at] = 1n;
    }
  }
  return {
    input_ids: { type: 'int64' as const, dims, data: ids },
    attention_mask: { type: 'int64' as const, dims, data: mask },
    token_type_ids: { type: 'int64' as const, dims, data: new BigInt64Array(size) },
  };
}

it('gives the vectors of the graph in the file, for all lengths and with padding', async () => {
  const { modelsDir } = loadConfig(process.env);
  const path = resolveModelFiles(modelsDir, 'all-minilm-l6-v2-int8')['model.onnx'] ?? '';
  const original = await openGraph(path, RUNTIME);
  onTestFinished(() => original.close());
  const fused = await openGraph(fusedGraph(await Bun.file(path).bytes()), RUNTIME);
  onTestFinished(() => fused.close());
  for (const lengths of [[2], [9], [47], [MAX_TOKENS], [3, 8, 20], [100, 31, 64, 7]]) {
    const { token_type_ids, ...inputs } = inputsOf(lengths);
    const { sum } = await fused.run(inputs, ['sum']);
    const { last_hidden_state: state } = await original.run({ ...inputs, token_type_ids }, [
      'last_hidden_state',
    ]);
    for (const [row, length] of lengths.entries()) {
      const expected = new Float32Array(DIMENSIONS);
      for (let token = 0; token < length; token += 1) {
        const from = (row * Math.max(...lengths) + token) * DIMENSIONS;
        for (let i = 0; i < DIMENSIONS; i += 1)
          expected[i] = (expected[i] ?? 0) + (state.data[from + i] ?? 0);
      }
      unitVector(expected);
      const vector = unitVector(sum.data.slice(row * DIMENSIONS, (row + 1) * DIMENSIONS));
      const difference = Math.max(...vector.map((value, at) => Math.abs(value - (expected[at] ?? 0))));
      expect(difference, `row ${row} of ${lengths}`).toBeLessThan(1e-6);
    }
  }
});

it('rejects the file of another model', () => {
  const graph = { name: 'empty', node: [], initializer: [], input: [], output: [] };
  const file = encodeModel({ irVersion: 9, producerName: 'test', opsetImport: [{ version: 17 }], graph });
  expect(() => fusedGraph(file)).toThrow('the graph has no');
});
