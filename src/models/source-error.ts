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

/** The message of any thrown value. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
