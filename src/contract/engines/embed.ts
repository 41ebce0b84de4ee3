/** Embedding engines, embedded or upstream. */

import type { TokenVocabulary } from '../core/settings.ts';
import type { Priority, ReadyReport } from './engine.ts';

export interface EmbedRequest {
  /** Texts, or token ids of the model if {@link EmbedEngine.tokenIds} is `model`; none of them empty. */
  readonly inputs: readonly (string | readonly number[])[];
  /** Length of the vectors, if it differs from the default of the model. */
  readonly dimensions?: number | undefined;
  readonly priority: Priority;
  /** API key of the request, for fair scheduling between keys (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

export interface Embeddings {
  /** One unit vector per input, in order. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
  /** Total tokens of all inputs. */
  readonly tokens: number;
}

/** Computes embeddings of texts. */
export interface EmbedEngine {
  /** Vocabulary of the token ids in requests. The caller converts those of `cl100k_base`, the default, to texts. */
  readonly tokenIds?: TokenVocabulary | undefined;
  /** Maximum number of tokens per input; undefined if only the upstream server knows it. */
  readonly maxTokens: number | undefined;
  /**
   * Computes the vectors of all inputs.
   * @throws ServiceError `invalid_request` for an input that is too long, unknown token ids, or unsupported
   *   `dimensions`; `overloaded`, `internal`, `upstream` as for other engines; the signal's reason after an
   *   abort.
   */
  embed(request: EmbedRequest, signal: AbortSignal): Promise<Embeddings>;
  ready(): ReadyReport;
  /** Idempotent. */
  close(): Promise<void>;
}
