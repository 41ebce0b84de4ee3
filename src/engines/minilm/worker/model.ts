/**
 * all-MiniLM-L6-v2 in the inference process: texts to vectors, as sentence-transformers does it (Reimers and
 * Gurevych 2019): the mean of the last layer over the tokens of a text, at length 1.
 */

import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { StepModel, RuntimeOptions } from '../../pool/model.ts';
import { type GraphSession, openGraph } from '../../runtime/runtime.ts';
import type { MinilmDescription, MinilmRequest, MinilmResult } from '../shared/protocol.ts';
import { lengthBuckets } from './length-buckets.ts';
import { WordPieces } from './word-pieces.ts';

const DIMENSIONS = 384;
/** Positions of the model. It was trained on 256 of them, of which most texts need few. */
const MAX_TOKENS = 512;

export interface MinilmOptions {
  /** Path of the graph. */
  readonly model: string;
  /** Path of the list of tokens. */
  readonly vocabulary: string;
  readonly runtime: RuntimeOptions;
}

export type MinilmModel = StepModel<MinilmRequest, MinilmResult, MinilmDescription>;

/**
 * Loads the model and embeds one text, so that the first request finds everything warm.
 * @throws Error when a file is not what it should be.
 */
export async function loadMinilm({ model, vocabulary, runtime }: MinilmOptions): Promise<MinilmModel> {
  const pieces = new WordPieces(await Bun.file(vocabulary).json());
  const minilm = new Minilm(pieces, await openGraph(model, runtime));
  for await (const _ of minilm.open({ inputs: ['Ready when you are.'] }));
  return minilm;
}

class Minilm implements MinilmModel {
  readonly description: MinilmDescription;
  readonly #pieces: WordPieces;
  readonly #graph: GraphSession;

  constructor(pieces: WordPieces, graph: GraphSession) {
    this.#pieces = pieces;
    this.#graph = graph;
    this.description = { dimensions: DIMENSIONS, maxTokens: MAX_TOKENS, vocabularySize: pieces.size };
  }

  async *open({ inputs }: MinilmRequest): AsyncGenerator<MinilmResult, void, undefined> {
    const texts = inputs.map((input) => this.#pieces.idsOf(input, MAX_TOKENS));
    const tooLong = texts.flatMap((ids, place) => (ids === undefined ? [place] : []));
    if (tooLong.length > 0) {
      yield { places: tooLong, tokens: tooLong.map(() => undefined), vectors: new Float32Array(0) };
    }
    const places = texts.flatMap((ids, place) => (ids === undefined ? [] : [place]));
    const lengths = places.map((place) => texts[place]?.length ?? 0);
    for (const bucket of lengthBuckets(lengths)) {
      const chosen = bucket.map((at) => places[at] ?? 0);
      const rows = chosen.map((place) => texts[place] ?? []);
      yield { places: chosen, tokens: rows.map((row) => row.length), vectors: await this.#embed(rows) };
    }
  }

  async close(): Promise<void> {
    await this.#graph.close();
  }

  async #embed(rows: readonly (readonly number[])[]): Promise<Float32Array<ArrayBuffer>> {
    const longest = Math.max(...rows.map((row) => row.length));
    const ids = new BigInt64Array(rows.length * longest);
    const mask = new BigInt64Array(rows.length * longest);
    for (const [at, row] of rows.entries()) {
      ids.set(BigInt64Array.from(row, BigInt), at * longest);
      mask.fill(1n, at * longest, at * longest + row.length);
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
    for (const [at, row] of rows.entries()) {
      const vector = vectors.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
      for (let token = 0; token < row.length; token += 1) {
        const from = (at * longest + token) * DIMENSIONS;
        for (let each = 0; each < DIMENSIONS; each += 1) {
          vector[each] = (vector[each] ?? 0) + (state.data[from + each] ?? 0);
        }
      }
      // A mean of the same direction, so the division by the count is left to the length.
      unitVector(vector);
    }
    return vectors;
  }
}
