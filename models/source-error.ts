/** A source that did not give the bytes; the next source may. `retryable`: the same one may, later. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? false;
  }
}

/** True when the system says that no space (or quota) is left; then no other source can help. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** One line about any failure, for people. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
