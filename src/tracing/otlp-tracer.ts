/** Tracer that exports spans with the OpenTelemetry SDK as OTLP over HTTP. */

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
import { ReportingExporter, type ReportingExporterDeps } from './reporting-exporter.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

/** Maximum number of ended spans waiting for export; further ones are dropped. */
const MAX_QUEUED_SPANS = 4096;
const MAX_BATCH_SPANS = 512;
const EXPORT_INTERVAL_MS = 2_000;
/** Timeout of an export including retries, in ms. */
const EXPORT_TIMEOUT_MS = 5_000;
/** Time limit for flushing at shutdown, in ms. */
const CLOSE_TIMEOUT_MS = 3_000;

/** A larger difference between the clocks means that the system clock was set. */
const CLOCK_STEP_MS = 50;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export interface OtlpTracerOptions extends Omit<ReportingExporterDeps, 'exporter'> {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly clock: Clock;
}

/**
 * Creates the tracer.
 * @returns the tracer, and `close`, which flushes queued spans for a few seconds at most and never rejects.
 */
export function otlpTracer({ settings, version, clock, ...reporting }: OtlpTracerOptions): {
  readonly tracer: Tracer;
  close(): Promise<void>;
} {
  const { url, headers, serviceName, ratio } = settings;
  const exporter = new OTLPTraceExporter({
    url,
    headers: Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: EXPORT_TIMEOUT_MS,
    // At shutdown all batches are sent concurrently, in addition to the export in progress.
    concurrencyLimit: Math.ceil(MAX_QUEUED_SPANS / MAX_BATCH_SPANS) + 1,
  });
  const inRatio = new TraceIdRatioBasedSampler(ratio);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': crypto.randomUUID(),
    }),
    // A caller can exclude its request from sampling, but cannot exceed the operator's sampling ratio.
    sampler: new ParentBasedSampler({ root: inRatio, remoteParentSampled: inRatio }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new ReportingExporter({ ...reporting, exporter }),
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        scheduledDelayMillis: EXPORT_INTERVAL_MS,
        exportTimeoutMillis: 2 * EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  return {
    tracer: new OtlpTracer(provider, clock),
    async close() {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, CLOSE_TIMEOUT_MS);
      // Failed exports have already been logged.
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise]);
      clearTimeout(timer);
    },
  };
}

class OtlpTracer implements Tracer {
  readonly #otel: ReturnType<TracerProvider['getTracer']>;
  readonly #clock: Clock;
  readonly #currentSpan = new AsyncLocalStorage<OtelSpan>();
  /** Unix time at which the monotonic clock was 0, in ms. */
  #originMs = 0;

  constructor(provider: TracerProvider, clock: Clock) {
    this.#otel = provider.getTracer('voice-service');
    this.#clock = clock;
  }

  currentTraceparent(): string | undefined {
    const span = this.#currentSpan.getStore();
    return span && formatTraceparent(span.spanContext());
  }

  startSpan(name: string, start: SpanStart = {}): Span {
    const clock = this.#clock;
    const span = this.#startOtelSpan(name, start, clock.monotonicMs());
    const currentSpan = this.#currentSpan;
    const unixMs = (ms: number) => this.#unixMs(ms);
    return {
      traceparent: formatTraceparent(span.spanContext()),
      runInContext: (work) => currentSpan.run(span, work),
      rename: (closer) => void span.updateName(closer),
      set: (attributes) => void span.setAttributes(attributes),
      end(failure) {
        if (failure !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', errorType(failure));
        }
        span.end(unixMs(clock.monotonicMs()));
      },
    };
  }

  recordSpan(name: string, start: SpanStart, fromMs: number, toMs: number): void {
    this.#startOtelSpan(name, start, fromMs).end(this.#unixMs(toMs));
  }

  #startOtelSpan(
    name: string,
    { attributes = {}, kind, parent, cause }: SpanStart,
    fromMs: number,
  ): OtelSpan {
    const parentContext =
      parent === undefined
        ? this.#currentSpan.getStore()?.spanContext()
        : parseTraceparent(parent, kind === 'server');
    const linked = cause === undefined ? undefined : parseTraceparent(cause, false);
    return this.#otel.startSpan(
      name,
      {
        startTime: this.#unixMs(fromMs),
        attributes,
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        links: linked === undefined ? [] : [{ context: linked }],
      },
      parentContext === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parentContext),
    );
  }

  /** Uses one clock for all times of a trace, so that child spans do not start before their parents. */
  #unixMs(monotonicMs: number): number {
    const originMs = this.#clock.now() - this.#clock.monotonicMs();
    if (Math.abs(originMs - this.#originMs) > CLOCK_STEP_MS) this.#originMs = originMs;
    return this.#originMs + monotonicMs;
  }
}

/** Returns an error type without the message, which can be private. */
function errorType(failure: unknown): string {
  if (failure instanceof ServiceError) return failure.code ?? failure.kind;
  if (failure instanceof Error) return failure.name;
  return typeof failure === 'string' ? failure : 'other';
}
