/**
 * Spans: what was done for a request, where and for how long, across processes and servers (OpenTelemetry). Names
 * come from a small closed set, attributes are ids, numbers and words of our own: never text, audio or keys.
 */

/** A place in a trace, as the header `traceparent` tells it (W3C Trace Context, 3.2). */
export type Traceparent = string;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly attributes?: SpanAttributes;
  /** `server`: answers another process; `client`: asks one. Absent: neither. */
  readonly kind?: 'server' | 'client';
  /**
   * What it is a part of: by default whatever is being done where it begins. `none`: it begins a trace of its own. What
   * is no place is `none`, too: callers send anything.
   */
  readonly parent?: Traceparent | 'none' | undefined;
  /** What led to it, without its being a part of that. */
  readonly cause?: Traceparent | undefined;
}

export interface Span {
  /** For work that goes on elsewhere; undefined while nothing is traced. */
  readonly traceparent: Traceparent | undefined;
  /** Does work as a part of it: spans that begin there, and wherever promises lead from there, are its parts. */
  runInContext<T>(work: () => T): T;
  /** @param name closer than the one that it began with. */
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** To be called once. @param failure what was thrown: its kind is told, never its message. Or a word for it. */
  end(failure?: unknown): void;
}

export interface Tracer {
  /** Where this is called; undefined outside of every span and while nothing is traced. */
  currentTraceparent(): Traceparent | undefined;
  startSpan(name: string, start?: SpanStart): Span;
  /** Tells a span that is over. Times are those of the monotonic clock, in ms. */
  recordSpan(name: string, start: SpanStart, fromMs: number, toMs: number): void;
}
