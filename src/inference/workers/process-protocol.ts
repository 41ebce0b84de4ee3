/**
 * The messages between the serving process and its worker processes that all workers share: loading. The messages are
 * plain data, because they are sent by structured clone.
 */

/** To the worker. `Load` contains its settings; `Message` is its own protocol after the load. */
export type ToProcess<Load, Message> =
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'message'; readonly message: Message };

/** From the worker. `Loaded` is the description that it sends when it is ready. */
export type FromProcess<Loaded, Message> =
  /** The worker accepts a `load`. */
  | { readonly kind: 'up' }
  /** A model of the `load` has reached a state. */
  | ({ readonly kind: 'loading' } & LoadProgress)
  | { readonly kind: 'loaded'; readonly loaded: Loaded }
  | { readonly kind: 'load-failed'; readonly error: ProcessError }
  | { readonly kind: 'message'; readonly message: Message };

/** Progress of a model during a load; `converting` only while its files are imported, once on a machine. */
export interface LoadProgress {
  readonly model: string;
  readonly state: 'loading' | 'converting' | 'loaded';
}

/** An exception as plain data: for the log of the serving process, never for API responses. */
export interface ProcessError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Converts an exception to plain data. */
export function toProcessError(error: unknown): ProcessError {
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack };
  return { name: 'Error', message: String(error) };
}

/** Restores an exception from {@link toProcessError}. */
export function fromProcessError({ name, message, stack }: ProcessError): Error {
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
