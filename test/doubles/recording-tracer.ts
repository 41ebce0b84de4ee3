import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanAttributes, SpanStart, Traceparent, Tracer } from '../../src/contract/core/tracer.ts';

/** A recorded span. */
export interface RecordedSpan {
  name: string;
  readonly place: Traceparent;
  readonly parent: Traceparent | undefined;
  readonly cause: Traceparent | undefined;
  readonly kind: SpanStart['kind'];
  attributes: SpanAttributes;
  ended: boolean;
  failure: unknown;
}

/** Records all spans in the order of their start. */
export class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  readonly #here = new AsyncLocalStorage<Traceparent>();

  currentTraceparent(): Traceparent | undefined {
    return this.#here.getStore();
  }

  startSpan(
    name: string,
    { attributes = {}, kind, parent = this.currentTraceparent(), cause }: SpanStart = {},
  ): Span {
    const span: RecordedSpan = {
      name,
      kind,
      cause,
      attributes,
      place: `place-${this.spans.length}`,
      parent: parent === 'none' ? undefined : parent,
      ended: false,
      failure: undefined,
    };
    this.spans.push(span);
    return {
      traceparent: span.place,
      runInContext: (work) => this.#here.run(span.place, work),
      rename(newName) {
        span.name = newName;
      },
      set(more) {
        span.attributes = { ...span.attributes, ...more };
      },
      end(failure) {
        span.ended = true;
        span.failure = failure;
      },
    };
  }

  recordSpan(name: string, start: SpanStart): void {
    this.startSpan(name, start).end();
  }

  /** Names of the spans as an indented tree. */
  tree(): string[] {
    const below = (parent: Traceparent | undefined, depth: number): string[] =>
      this.spans
        .filter((span) => span.parent === parent)
        .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.place, depth + 1)]);
    return below(undefined, 0);
  }
}
