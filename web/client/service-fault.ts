/** What the service refused, or that it did not answer: the one error that pages show. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `error.code` on the wire, such as `invalid_value`. */
  readonly code: string | null;
  /** The field at fault, in wire names and dotted; null when none is. */
  readonly param: string | null;
  /** For whoever looks into the service's log. */
  readonly requestId: string | null;

  constructor(
    message: string,
    detail: { status: number; code?: string | null; param?: string | null; requestId?: string | null },
  ) {
    super(message);
    this.status = detail.status;
    this.code = detail.code ?? null;
    this.param = detail.param ?? null;
    this.requestId = detail.requestId ?? null;
  }
}

/** The wire's error body, as far as it is one. */
interface WireError {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

/**
 * The fault that a body tells of: `{"error": {message, type, param, code}}`, of an answer or of an event.
 * @param body as parsed; whatever is no such body becomes a fault that names the status.
 */
export function faultOf(body: unknown, status: number, requestId: string | null = null): ServiceFault {
  const error = ((body as { error?: WireError } | null | undefined)?.error ?? {}) as WireError;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return new ServiceFault(text(error.message) ?? `The service answered with status ${status}.`, {
    status,
    code: text(error.code),
    param: text(error.param),
    requestId,
  });
}

/** Whatever was thrown, as a fault; what the browser says of a lost connection is put in words. */
export function toFault(thrown: unknown): ServiceFault {
  if (thrown instanceof ServiceFault) return thrown;
  if (thrown instanceof TypeError) {
    return new ServiceFault('The service cannot be reached. Is it running, and this machine online?', {
      status: 0,
    });
  }
  return new ServiceFault(thrown instanceof Error ? thrown.message : String(thrown), { status: 0 });
}

/** Whether it is only that somebody cancelled. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}
