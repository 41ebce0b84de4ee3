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
  return hasCode(error, ['ENOSPC', 'EDQUOT']);
}

/** True when a folder cannot be made or written because of access, its kind or its file system. */
export function isUnwritable(error: unknown): boolean {
  return hasCode(error, ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR']);
}

/** One line about any failure, for people. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
