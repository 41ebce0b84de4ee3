/**
 * The part of the messages between the serving process and its child processes that all of them share:
 * how a child is loaded. Structured clone carries the messages, so they are plain data.
 */

/** To the child. `Load` is what it needs to begin; `Message` is its own protocol from then on. */
export type ToProcess<Load, Message> =
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'message'; readonly message: Message };

/** From the child. `Loaded` is what it tells of itself once it can work. */
export type FromProcess<Loaded, Message> =
  /** Can take a `load`. */
  | { readonly kind: 'up' }
  | { readonly kind: 'loaded'; readonly loaded: Loaded }
  | { readonly kind: 'load-failed'; readonly fault: ProcessFault }
  | { readonly kind: 'message'; readonly message: Message };

/** An exception as it crosses: for the log of the serving process, never for a caller. */
export interface ProcessFault {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Makes an exception into plain data. */
export function toFault(error: unknown): ProcessFault {
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack };
  return { name: 'Error', message: String(error) };
}

/** The reverse of {@link toFault}. */
export function fromFault(fault: ProcessFault): Error {
  const error = new Error(fault.message);
  error.name = fault.name;
  if (fault.stack !== undefined) error.stack = fault.stack;
  return error;
}
