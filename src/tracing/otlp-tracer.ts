/** Spans by the SDK of OpenTelemetry, sent to a collector as OTLP over HTTP. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Span as OtelSpan, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { TracingSettings } from '../contract/core/settings.ts';
import type { Span, SpanStart, Tracer } from '../contract/core/tracer.ts';
import { parseTraceparent, formatTraceparent } from './traceparent.ts';
import { ReportingExporter, type ReportingExporterDeps } from './reporting-exporter.ts';

/** Ended spans that wait to be sent; those beyond are dropped. */
const MAX_WAITING = 4096;
const MAX_CONCURRENT = 512;
const SEND_EVERY_MS = 2_000;
/** How long a collector may take for what it is sent, tries again included. */
const SEND_LIMIT_MS = 5_000;
/** How long the end of the process waits for what has not been sent. */
const CLOSE_LIMIT_MS = 3_000;

/** By more than this a clock is not off, but was set. */
const CLOCK_STEP_MS = 50;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export interface OtlpTracerOptions extends Omit<ReportingExporterDeps, 'exporter'> {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly clock: Clock;
}

/** @returns a tracer, and `close`, which sends what waits for a few seconds at most. Never rejects. */
export function otlpTracer({ settings, version, clock, ...watch }: OtlpTracerOptions): {
  readonly tracer: Tracer;
  close(): Promise<void>;
} {
  const { url, headers, serviceName, ratio } = settings;
  const exporter = new OTLPTraceExporter({
    url,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: SEND_LIMIT_MS,
    // At the end all that waits is sent at once, beside what is on its way.
    concurrencyLimit: Math.ceil(MAX_WAITING / MAX_CONCURRENT) + 1,
  });
  const inRatio = new TraceIdRatioBasedSampler(ratio);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': crypto.randomUUID(),
    }),
    // A caller may have its request left out of the traces, but not have more of them kept than the operator wants.
    sampler: new ParentBasedSampler({ root: inRatio, remoteParentSampled: inRatio }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new ReportingExporter({ ...watch, exporter }),
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: MAX_CONCURRENT,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: 2 * SEND_LIMIT_MS,
      }),
    ],
  });
  return {
    tracer: new OtlpTracer(provider, clock),
    async close() {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, CLOSE_LIMIT_MS);
      // What could not be sent was told when it was tried.
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise]);
      clearTimeout(timer);
    },
  };
}

class OtlpTracer implements Tracer {
  readonly #otel: ReturnType<TracerProvider['getTracer']>;
  readonly #clock: Clock;
  readonly #here = new AsyncLocalStorage<OtelSpan>();
  /** Unix time when the monotonic clock was 0, in ms. */
  #originMs = 0;

  constructor(provider: TracerProvider, clock: Clock) {
    this.#otel = provider.getTracer('voice-service');
    this.#clock = clock;
  }

  currentTraceparent(): string | undefined {
    const span = this.#here.getStore();
    return span && formatTraceparent(span.spanContext());
  }

  startSpan(name: string, start: SpanStart = {}): Span {
    const clock = this.#clock;
    const span = this.#begin(name, start, clock.monotonicMs());
    const here = this.#here;
    const unixMs = (ms: number) => this.#unixMs(ms);
    return {
      traceparent: formatTraceparent(span.spanContext()),
      runInContext: (work) => here.run(span, work),
      rename: (closer) => void span.updateName(closer),
      set: (attributes) => void span.setAttributes(attributes),
      end(failure) {
        if (failure !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', kindOf(failure));
        }
        span.end(unixMs(clock.monotonicMs()));
      },
    };
  }

  recordSpan(name: string, start: SpanStart, fromMs: number, toMs: number): void {
    this.#begin(name, start, fromMs).end(this.#unixMs(toMs));
  }

  #begin(name: string, { attributes = {}, kind, parent, cause }: SpanStart, fromMs: number): OtelSpan {
    const around =
      parent === undefined ? this.#here.getStore()?.spanContext() : parseTraceparent(parent, kind === 'server');
    const led = cause === undefined ? undefined : parseTraceparent(cause, false);
    return this.#otel.startSpan(
      name,
      {
        startTime: this.#unixMs(fromMs),
        attributes,
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        links: led === undefined ? [] : [{ context: led }],
      },
      around === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, around),
    );
  }

  /** All times of a trace are counted by one clock, so that parts begin after the whole. */
  #unixMs(monotonicMs: number): number {
    const originMs = this.#clock.now() - this.#clock.monotonicMs();
    if (Math.abs(originMs - this.#originMs) > CLOCK_STEP_MS) this.#originMs = originMs;
    return this.#originMs + monotonicMs;
  }
}

/** A word for a failure, whose message may be private. */
function kindOf(failure: unknown): string {
  if (failure instanceof ServiceError) return failure.code ?? failure.kind;
  if (failure instanceof Error) return failure.name;
  return typeof failure === 'string' ? failure : 'other';
}
