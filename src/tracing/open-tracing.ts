import type { TracingSettings } from '../contract/core/settings.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import type { OtlpTracerOptions } from './otlp-tracer.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Flushes queued spans, for at most a few seconds. */
  close(): Promise<void>;
}

/**
 * Opens tracing.
 * @param settings undefined disables tracing and loads no libraries.
 */
export async function openTracing(
  settings: TracingSettings | undefined,
  options: Omit<OtlpTracerOptions, 'settings'>,
): Promise<Tracing> {
  if (settings === undefined) return { tracer: noopTracer, close: async () => undefined };
  const { otlpTracer } = await import('./otlp-tracer.ts');
  return otlpTracer({ ...options, settings });
}
