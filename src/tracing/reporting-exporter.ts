import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../contract/core/logger.ts';
import type { Counter, Metrics } from '../contract/core/metrics.ts';

export interface ReportingExporterDeps {
  readonly exporter: SpanExporter;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Says once that nothing can be sent, and counts what was. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Logger;
  readonly #spans: Counter;
  #isFailing = false;

  constructor({ exporter, log, metrics }: ReportingExporterDeps) {
    this.#exporter = exporter;
    this.#log = log;
    this.#spans = metrics.counter('trace_spans_total', 'Spans that were to be sent to the collector.', [
      'result',
    ]);
  }

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    this.#exporter.export(spans, (result) => {
      this.#told(result.error === undefined, spans.length);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #told(isSent: boolean, spans: number): void {
    this.#spans.add({ result: isSent ? 'sent' : 'failed' }, spans);
    if (isSent && this.#isFailing) this.#log.info('the collector of traces takes them again');
    if (!isSent && !this.#isFailing)
      this.#log.warn('the collector of traces does not take them; they are dropped');
    this.#isFailing = !isSent;
  }
}
