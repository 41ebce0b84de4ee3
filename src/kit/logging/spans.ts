/** Work in spans, and the tracer of a service that traces nothing. */

import type { Span, SpanStart, Tracer } from '../../contract/core/tracer.ts';

const NO_SPAN: Span = {
  place: undefined,
  inside: (work) => work(),
  rename: () => undefined,
  set: () => undefined,
  end: () => undefined,
};

/** Traces nothing. */
export const noopTracer: Tracer = {
  here: () => undefined,
  begin: () => NO_SPAN,
  record: () => undefined,
};

/** Does work in a span that ends with it. */
export async function inSpan<Result>(
  tracer: Tracer,
  name: string,
  start: SpanStart,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = tracer.begin(name, start);
  try {
    const result = await span.inside(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/**
 * The same for work that yields: each step is done in the span, whoever asks for it. It begins with the first step,
 * and ends when the consumer leaves, too.
 */
export async function* stepsInSpan<Item>(
  tracer: Tracer,
  name: string,
  start: SpanStart,
  work: (span: Span) => AsyncIterable<Item>,
): AsyncGenerator<Item, void, undefined> {
  const span = tracer.begin(name, start);
  let steps: AsyncIterator<Item> | undefined;
  let failure: unknown;
  try {
    const begun = span.inside(() => work(span)[Symbol.asyncIterator]());
    steps = begun;
    const next = () => span.inside(() => begun.next());
    for (let step = await next(); !step.done; step = await next()) yield step.value;
    steps = undefined;
  } catch (error) {
    steps = undefined;
    failure = error;
    throw error;
  } finally {
    try {
      // Still there: the consumer left.
      await span.inside(() => steps?.return?.());
    } finally {
      span.end(failure);
    }
  }
}
