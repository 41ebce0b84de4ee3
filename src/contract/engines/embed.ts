/** What the text family may ask of a model that turns texts into vectors. */

import type { Priority, ReadyReport } from './engine.ts';

export interface EmbedRequest {
  /** Texts, or texts as the token ids of the model; none of them empty. */
  readonly inputs: readonly (string | readonly number[])[];
  /** Length of the vectors, when it should be another than the model's. */
  readonly dimensions?: number | undefined;
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

export interface Embeddings {
  /** One for each input, in order, of length 1. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
  /** Tokens of all inputs. */
  readonly tokens: number;
}

/** Text to vectors. */
export interface EmbedEngine {
  /** Tokens that one input may have; undefined when only the engine's server knows. */
  readonly maxTokens: number | undefined;
  /**
   * @throws ServiceError `invalid_request` for an input that is too long or token ids that do not exist, and for
   *   `dimensions` that the model cannot have; `overloaded`, `internal`, `upstream` as other engines; the
   *   signal's reason after an abort.
   */
  embed(request: EmbedRequest, signal: AbortSignal): Promise<Embeddings>;
  ready(): ReadyReport;
  /** Idempotent. */
  close(): Promise<void>;
}
