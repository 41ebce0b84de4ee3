/** Requests and results between the embedding engine and its model in a worker process. */

export interface MinilmRequest {
  /** Texts or token ids. */
  readonly inputs: readonly (string | readonly number[])[];
}

/** Result for some inputs of a request. Results may arrive in any order. */
export interface MinilmResult {
  /** Indexes of these inputs in the request. */
  readonly indexes: readonly number[];
  /** Number of tokens of each input; undefined for an input that is too long, which has no vector. */
  readonly tokens: readonly (number | undefined)[];
  /** Concatenated vectors, each normalized to length 1, without those of inputs that are too long. */
  readonly vectors: Float32Array<ArrayBuffer>;
}

export interface MinilmDescription {
  /** Number of elements of a vector. */
  readonly dimensions: number;
  /** Maximum number of tokens of an input, including [CLS] and [SEP]. */
  readonly maxTokens: number;
  /** Number of token ids; valid ids are smaller. */
  readonly vocabularySize: number;
}
