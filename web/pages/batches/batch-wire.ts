/** Batches and files as returned by the API, with the fields that this page uses. */

export const ENDPOINTS = ['/v1/embeddings', '/v1/chat/completions', '/v1/responses'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'failed'
  | 'cancelling'
  | 'cancelled'
  | 'expired';

export interface BatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Line number, starting at 1; null for an error of the whole file. */
  readonly line: number | null;
}

export interface Batch {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly model: string | null;
  readonly status: BatchStatus;
  readonly errors: { readonly data: readonly BatchError[] } | null;
  readonly input_file_id: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  /** Unix seconds, like all timestamps. */
  readonly created_at: number;
  readonly in_progress_at: number | null;
  readonly finalizing_at: number | null;
  readonly completed_at: number | null;
  readonly failed_at: number | null;
  readonly expired_at: number | null;
  readonly cancelling_at: number | null;
  readonly cancelled_at: number | null;
  readonly expires_at: number | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Why an unfinished batch makes no progress. */
  readonly status_detail?: string;
}

export interface StoredFile {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
}
