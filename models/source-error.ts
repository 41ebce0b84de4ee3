/** A source failed, so the next one is tried. With `retryable`, the same source may succeed later. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? false;
  }
}

/** No source delivered the files of a model. The message lists the errors and the possible remedies. */
export class ModelFetchError extends Error {
  override readonly name = 'ModelFetchError';
}

/** Whether the disk or quota is full, in which case other sources would fail as well. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, ['ENOSPC', 'EDQUOT']);
}

/** Whether a folder cannot be created or written because of permissions, its file type or a read-only file system. */
export function isUnwritable(error: unknown): boolean {
  return hasCode(error, ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR']);
}

/** The message of any thrown value. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
