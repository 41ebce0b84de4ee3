/** What crosses between the engine of embeddings and its model. */

export interface MinilmRequest {
  /** Texts, or their token ids. */
  readonly inputs: readonly (string | readonly number[])[];
}

/** Some inputs of a request, in any order. */
export interface MinilmResult {
  /** Which inputs these are. */
  readonly places: readonly number[];
  /** Tokens of each; undefined for an input that is too long, which has no vector. */
  readonly tokens: readonly (number | undefined)[];
  /** Their vectors one after the other, each of length 1; those of inputs that are too long are left out. */
  readonly vectors: Float32Array<ArrayBuffer>;
}

export interface MinilmDescription {
  /** Length of a vector. */
  readonly dimensions: number;
  /** Most tokens of an input, with the two that enclose it. */
  readonly maxTokens: number;
  /** Token ids are below this. */
  readonly vocabularySize: number;
}
