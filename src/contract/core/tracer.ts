/**
 * Distributed tracing (OpenTelemetry). Span names come from a small fixed set. Attributes are ids, numbers
 * and words from fixed sets, never text, audio or keys.
 */

/** A position in a trace: the value of a `traceparent` header (W3C Trace Context, section 3.2). */
export type Traceparent = string;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly attributes?: SpanAttributes;
  /** Span kind: `server` handles a request of another process, `client` sends one. Absent: internal. */
  readonly kind?: 'server' | 'client';
  /**
   * Parent span; default: the current span. `none` and invalid values start a new trace, because callers can
   * send anything.
   */
  readonly parent?: Traceparent | 'none' | undefined;
  /** A span that caused this one without being its parent (span link). */
  readonly cause?: Traceparent | undefined;
}

export interface Span {
  /** Passed to other processes to continue the trace; undefined while tracing is disabled. */
  readonly traceparent: Traceparent | undefined;
  /** Runs `work` with this span as the current span, including its asynchronous continuations. */
  runInContext<T>(work: () => T): T;
  /**
   * Renames the span.
   * @param name more specific than the initial name.
   */
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Ends the span; must be called once.
   * @param failure the thrown error, of which only the type is recorded, never the message; or a short error
   *   name.
   */
  end(failure?: unknown): void;
}

export interface Tracer {
  /** Returns the current span; undefined outside of a span and while tracing is disabled. */
  currentTraceparent(): Traceparent | undefined;
  startSpan(name: string, start?: SpanStart): Span;
  /** Records a span that has already ended. Times are values of the monotonic clock, in ms. */
  recordSpan(name: string, start: SpanStart, fromMs: number, toMs: number): void;
}
