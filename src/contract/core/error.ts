/** The error type of the service and the fixed list of its codes. */

/**
 * Error kinds with their HTTP status and wire `type` (openai-wire 1.3). `error.code` is separate: see {@link
 * ServiceError.code}.
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

/** Values of `error.code`. */
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
  | 'model_loading'
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
  /** Name of the invalid field, in wire names and dotted form (`audio.input.format`). */
  readonly param?: string | undefined;
  readonly code?: ErrorCode | undefined;
  /** Delay before a retry, in seconds; sent as `retry-after`. */
  readonly retryAfterS?: number | undefined;
  readonly cause?: unknown;
}

/**
 * An error that is returned to the caller. `message` states the problem, the field and the allowed values. It
 * never contains input text, transcripts, audio or keys, because messages can be logged.
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

  /** HTTP status of this error kind. */
  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }

  /** `error.type` on the wire. */
  get type(): string {
    return ERROR_KINDS[this.kind].type;
  }
}

/** Creates a 400 error that names the invalid field. */
export function invalidRequest(message: string, param?: string, code?: ErrorCode): ServiceError {
  return new ServiceError('invalid_request', message, { param, code });
}

/**
 * Joins the errors of one invalid request, so that its author can correct all of them. A single error stays as it is.
 * @param errors 400 errors, the most important first: it determines `param` and `code`.
 */
export function joinedErrors(errors: readonly [ServiceError, ...ServiceError[]]): ServiceError {
  const [first] = errors;
  if (errors.length === 1) return first;
  return invalidRequest(errors.map(({ message }) => message).join(' '), first.param, first.code);
}

/**
 * Creates the 503 error of a process that is shutting down. Another process, or this one after a restart, can
 * serve the request.
 */
export function shuttingDown(): ServiceError {
  return new ServiceError('overloaded', 'Server is shutting down. Retry the request.', {
    code: 'server_overloaded',
    retryAfterS: 1,
  });
}

/**
 * The configuration or environment prevents the start. The message is for the operator: it states what is
 * missing or invalid and how to fix it.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
