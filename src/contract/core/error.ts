/** The one error that the service throws on purpose, and the closed list of its codes. */

/**
 * Error kinds with the HTTP status and the `type` that the wire shows for them (openai-wire 1.3).
 * `code` on the wire is separate: see {@link ServiceError.code}.
 */
export const ERROR_KINDS = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  unauthenticated: { status: 401, type: 'invalid_request_error' },
  forbidden: { status: 403, type: 'invalid_request_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  payload_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  range_not_satisfiable: { status: 416, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  insufficient_quota: { status: 429, type: 'insufficient_quota' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  internal: { status: 500, type: 'server_error' },
  upstream: { status: 502, type: 'server_error' },
  overloaded: { status: 503, type: 'server_error' },
  timeout: { status: 504, type: 'server_error' },
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** Machine-readable codes that the wire shows in `error.code`. */
export type ErrorCode =
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'permission_denied'
  | 'key_limit_exceeded'
  | 'last_admin_key'
  | 'missing_required_parameter'
  | 'unknown_parameter'
  | 'unsupported_parameter'
  | 'unsupported_value'
  | 'invalid_value'
  | 'invalid_type'
  | 'invalid_json'
  | 'context_length_exceeded'
  | 'previous_response_not_found'
  | 'mutually_exclusive_parameters'
  | 'string_above_max_length'
  | 'model_not_found'
  | 'voice_not_found'
  | 'payload_too_large'
  | 'request_timeout'
  | 'file_in_use'
  | 'idempotency_conflict'
  | 'storage_limit_exceeded'
  | 'voice_limit_exceeded'
  | 'video_not_ready'
  | 'video_in_use'
  | 'content_policy_violation'
  | 'generation_failed'
  | 'insufficient_quota'
  | 'rate_limit_exceeded'
  | 'server_overloaded'
  | 'server_error'
  | 'upstream_error'
  | 'worker_crashed'
  | 'plugin_disabled'
  | 'plugin_starting'
  | 'plugin_stopping'
  | 'plugin_failed'
  | 'plugin_needed'
  | 'plugin_not_loaded';

export interface ServiceErrorDetail {
  /** Field that was at fault, in wire names and dotted (`audio.input.format`). */
  readonly param?: string | undefined;
  readonly code?: ErrorCode | undefined;
  /** What a retrying client should wait, in seconds; sent as `retry-after`. */
  readonly retryAfterS?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A failure that a caller may see. `message` says what was wrong, where, and what is allowed; it never
 * carries input text, transcripts, audio or keys, because messages may be logged.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly kind: ErrorKind;
  readonly param: string | undefined;
  readonly code: ErrorCode | undefined;
  readonly retryAfterS: number | undefined;

  constructor(kind: ErrorKind, message: string, detail: ServiceErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = kind;
    this.param = detail.param;
    this.code = detail.code;
    this.retryAfterS = detail.retryAfterS;
  }

  /** HTTP status of this kind of failure. */
  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }

  /** `error.type` on the wire. */
  get type(): string {
    return ERROR_KINDS[this.kind].type;
  }
}

/** A 400 that names the field at fault. */
export function invalidRequest(message: string, param?: string, code?: ErrorCode): ServiceError {
  return new ServiceError('invalid_request', message, { param, code });
}

/** The 503 of a process that ends: another one, or the next, can answer. */
export function shuttingDown(): ServiceError {
  return new ServiceError('overloaded', 'The server is shutting down. Send the request again.', {
    code: 'server_overloaded',
    retryAfterS: 1,
  });
}

/**
 * The service cannot start as it is set up. The message is for the operator: what is missing or wrong, and
 * what to do.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
