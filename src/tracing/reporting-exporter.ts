import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../contract/core/logger.ts';
import type { Counter, Metrics } from '../contract/core/metrics.ts';

export interface ReportingExporterDeps {
  readonly exporter: SpanExporter;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wraps an exporter: logs failure and recovery of exports, and counts spans. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Logger;
  readonly #spans: Counter;
  #isFailing = false;

  constructor({ exporter, log, metrics }: ReportingExporterDeps) {
    this.#exporter = exporter;
    this.#log = log;
    this.#spans = metrics.counter('trace_spans_total', 'Spans exported to the collector, by result.', [
      'result',
    ]);
  }

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    this.#exporter.export(spans, (result) => {
      this.#report(result.error === undefined, spans.length);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #report(isSent: boolean, spans: number): void {
    this.#spans.add({ result: isSent ? 'sent' : 'failed' }, spans);
    if (isSent && this.#isFailing) this.#log.info('trace exporter recovered');
    if (!isSent && !this.#isFailing) this.#log.warn('trace export failed, dropping spans');
    this.#isFailing = !isSent;
  }
}
