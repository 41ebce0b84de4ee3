/**
 * all-MiniLM-L6-v2 in an inference worker: texts to vectors as in sentence-transformers (Reimers and Gurevych 2019), that
 * is, the mean of the last layer over all tokens, normalized to length 1.
 */

import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { RuntimeOptions, StepModel } from '../../pool/model.ts';
import { type GraphSession, openGraph } from '../../runtime/runtime.ts';
import type { MinilmDescription, MinilmRequest, MinilmResult } from '../shared/protocol.ts';
import { batchByLength } from './batch-by-length.ts';
import { WordPieceTokenizer } from './word-piece-tokenizer.ts';

const DIMENSIONS = 384;
/** Number of position embeddings. The model was trained with inputs of up to 256 tokens. */
const MAX_TOKENS = 512;

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
  const minilm = new Minilm(tokenizer, await openGraph(model, runtime, { spinning: true }));
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

  async *open({ inputs }: MinilmRequest): AsyncGenerator<MinilmResult, void, undefined> {
    const texts = inputs.map((input) => this.#tokenizer.encode(input, MAX_TOKENS));
    const tooLong = texts.flatMap((ids, index) => (ids === undefined ? [index] : []));
    if (tooLong.length > 0) {
      yield { indexes: tooLong, tokens: tooLong.map(() => undefined), vectors: new Float32Array(0) };
    }
    const indexes = texts.flatMap((ids, index) => (ids === undefined ? [] : [index]));
    const lengths = indexes.map((index) => texts[index]?.length ?? 0);
    for (const batch of batchByLength(lengths)) {
      const selected = batch.map((position) => indexes[position] ?? 0);
      const rows = selected.map((index) => texts[index] ?? []);
      yield { indexes: selected, tokens: rows.map((row) => row.length), vectors: await this.#embed(rows) };
    }
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
    const { last_hidden_state: state } = await this.#graph.run(
      {
        input_ids: { type: 'int64', dims, data: ids },
        attention_mask: { type: 'int64', dims, data: mask },
        token_type_ids: { type: 'int64', dims, data: new BigInt64Array(ids.length) },
      },
      ['last_hidden_state'],
    );
    const vectors = new Float32Array(rows.length * DIMENSIONS);
    for (const [index, row] of rows.entries()) {
      const vector = vectors.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS);
      for (let token = 0; token < row.length; token += 1) {
        const from = (index * longest + token) * DIMENSIONS;
        for (let i = 0; i < DIMENSIONS; i += 1) {
          vector[i] = (vector[i] ?? 0) + (state.data[from + i] ?? 0);
        }
      }
      // The sum has the direction of the mean, and normalization makes the division unnecessary.
      unitVector(vector);
    }
    return vectors;
  }
}
