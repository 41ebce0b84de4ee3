/** Helpers to run work in spans, and a no-op tracer. */

import type { Span, SpanStart, Tracer } from '../../contract/core/tracer.ts';

const NO_SPAN: Span = {
  traceparent: undefined,
  runInContext: (work) => work(),
  rename: () => undefined,
  set: () => undefined,
  end: () => undefined,
};

/** A tracer that records nothing. */
export const noopTracer: Tracer = {
  currentTraceparent: () => undefined,
  startSpan: () => NO_SPAN,
  recordSpan: () => undefined,
};

/** Runs `work` in a span that ends with it. */
export async function withSpan<Result>(
  tracer: Tracer,
  name: string,
  start: SpanStart,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = tracer.startSpan(name, start);
  try {
    const result = await span.runInContext(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Observes an iteration without changing it. */
export interface IterationObserver<Item> {
  /** Called before each step. */
  pulled?(): void;
  /** Called for each item, before it is yielded. */
  item?(item: Item): void;
  /** Called when the work has ended by itself. */
  completed?(): void;
  /**
   * Called once, after the source is closed.
   * @param failure the error of a step; undefined if the work ended or the consumer stopped early.
   */
  ended?(failure: unknown): void;
}

/**
 * Iterates `work` in a span: each step runs in the span, regardless of the consumer's context. The span
 * starts with the first step and also ends when the consumer stops early.
 */
export async function* iterateInSpan<Item>(
  tracer: Tracer,
  name: string,
  start: SpanStart,
  work: (span: Span) => AsyncIterable<Item>,
  observer: IterationObserver<Item> = {},
): AsyncGenerator<Item, void, undefined> {
  const span = tracer.startSpan(name, start);
  let steps: AsyncIterator<Item> | undefined;
  let failure: unknown;
  try {
    const iterator = span.runInContext(() => work(span)[Symbol.asyncIterator]());
    steps = iterator;
    const next = () => {
      observer.pulled?.();
      return span.runInContext(() => iterator.next());
    };
    for (let step = await next(); !step.done; step = await next()) {
      observer.item?.(step.value);
      yield step.value;
    }
    steps = undefined;
    observer.completed?.();
  } catch (error) {
    steps = undefined;
    failure = error;
    throw error;
  } finally {
    try {
      // Defined only if the consumer stopped early.
      await span.runInContext(() => steps?.return?.());
    } finally {
      observer.ended?.(failure);
      span.end(failure);
    }
  }
}
