/**
 * all-MiniLM-L6-v2 in an inference worker: texts to vectors as in sentence-transformers (Reimers and Gurevych 2019), that
 * is, the mean of the last layer over all tokens, normalized to length 1.
 */

import type { StepModel } from '../../../inference/pool/model.ts';
import { type GraphSession, openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { MinilmDescription, MinilmRequest, MinilmResult } from '../shared/protocol.ts';
import { batchByLength } from './batch-by-length.ts';
import { DIMENSIONS, fusedGraph, MAX_TOKENS } from './fused-graph.ts';
import { WordPieceTokenizer } from './word-piece-tokenizer.ts';

export interface MinilmOptions {
  /** Path of the graph. */
  readonly model: string;
  /** Path of the vocabulary. */
  readonly vocabulary: string;
  readonly runtime: RuntimeOptions;
}

export type MinilmModel = StepModel<MinilmRequest, MinilmResult, MinilmDescription>;

/**
 * Loads the model and embeds one text to warm up the graph.
 * @throws Error when a file is missing or invalid.
 */
export async function loadMinilm({ model, vocabulary, runtime }: MinilmOptions): Promise<MinilmModel> {
  const tokenizer = new WordPieceTokenizer(await Bun.file(vocabulary).json());
  const graph = await openGraph(fusedGraph(await Bun.file(model).bytes()), runtime, { spinning: true });
  const minilm = new Minilm(tokenizer, graph);
  for await (const _ of minilm.open({ inputs: ['Ready when you are.'] }));
  return minilm;
}

class Minilm implements MinilmModel {
  readonly description: MinilmDescription;
  readonly #tokenizer: WordPieceTokenizer;
  readonly #graph: GraphSession;

  constructor(tokenizer: WordPieceTokenizer, graph: GraphSession) {
    this.#tokenizer = tokenizer;
    this.#graph = graph;
    this.description = { dimensions: DIMENSIONS, maxTokens: MAX_TOKENS, vocabularySize: tokenizer.size };
  }

  /** Inputs that are too long are a step without inference. */
  async *open({ inputs }: MinilmRequest): AsyncGenerator<MinilmResult, MinilmResult | undefined, undefined> {
    const texts = inputs.map((input) => this.#tokenizer.encode(input, MAX_TOKENS));
    const tooLong = texts.flatMap((ids, index) => (ids === undefined ? [index] : []));
    if (tooLong.length > 0) {
      yield { indexes: tooLong, tokens: tooLong.map(() => undefined), vectors: new Float32Array(0) };
    }
    const indexes = texts.flatMap((ids, index) => (ids === undefined ? [] : [index]));
    const batches = batchByLength(indexes.map((index) => texts[index]?.length ?? 0));
    const last = batches.pop();
    const embed = async (batch: readonly number[]): Promise<MinilmResult> => {
      const selected = batch.map((position) => indexes[position] ?? 0);
      const rows = selected.map((index) => texts[index] ?? []);
      return { indexes: selected, tokens: rows.map((row) => row.length), vectors: await this.#embed(rows) };
    };
    for (const batch of batches) yield await embed(batch);
    return last && embed(last);
  }

  async close(): Promise<void> {
    await this.#graph.close();
  }

  async #embed(rows: readonly (readonly number[])[]): Promise<Float32Array<ArrayBuffer>> {
    const longest = Math.max(...rows.map((row) => row.length));
    const ids = new BigInt64Array(rows.length * longest);
    const mask = new BigInt64Array(rows.length * longest);
    for (const [index, row] of rows.entries()) {
      ids.set(BigInt64Array.from(row, BigInt), index * longest);
      mask.fill(1n, index * longest, index * longest + row.length);
    }
    const dims = [rows.length, longest];
    const { sum } = await this.#graph.run(
      {
        input_ids: { type: 'int64', dims, data: ids },
        attention_mask: { type: 'int64', dims, data: mask },
      },
      ['sum'],
    );
    // The sum has the direction of the mean, and normalization makes the division unnecessary.
    for (let at = 0; at < sum.data.length; at += DIMENSIONS)
      unitVector(sum.data.subarray(at, at + DIMENSIONS));
    return sum.data;
  }
}
