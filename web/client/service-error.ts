/** An error response of the service, or a failed connection. The only error type that pages display. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** `error.code` of the response, such as `invalid_value`. */
  readonly code: string | null;
  /** Dotted path of the invalid field; null if the error is not about a field. */
  readonly param: string | null;
  /** Identifies the request in the service's log. */
  readonly requestId: string | null;
  /** Seconds after which the service suggests to retry; null if it suggests nothing. */
  readonly retryAfterS: number | null;

  constructor(
    message: string,
    detail: {
      status: number;
      code?: string | null;
      param?: string | null;
      requestId?: string | null;
      retryAfterS?: number | null;
    },
  ) {
    super(message);
    this.status = detail.status;
    this.code = detail.code ?? null;
    this.param = detail.param ?? null;
    this.requestId = detail.requestId ?? null;
    this.retryAfterS = detail.retryAfterS ?? null;
  }
}

/** The error object of a response body; every field is unchecked. */
interface WireError {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

/**
 * Converts an error body, `{"error": {message, type, param, code}}`, of a response or an event.
 * @param body the parsed JSON; any other shape becomes an error that names the status.
 */
export function errorFromBody(
  body: unknown,
  status: number,
  requestId: string | null = null,
  retryAfterS: number | null = null,
): ServiceError {
  const error = ((body as { error?: WireError } | null | undefined)?.error ?? {}) as WireError;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return new ServiceError(text(error.message) ?? `The service returned status ${status}.`, {
    status,
    code: text(error.code),
    param: text(error.param),
    requestId,
    retryAfterS,
  });
}

/** Converts a thrown value. Connection failures, whose messages depend on the browser, get one message. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof TypeError) {
    return new ServiceError(
      'The service is unreachable. Check that it is running and that this device is online.',
      {
        status: 0,
      },
    );
  }
  return new ServiceError(thrown instanceof Error ? thrown.message : String(thrown), { status: 0 });
}

/** Whether the value is the error of a cancelled request. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}
