import type { TracingSettings } from '../contract/core/settings.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import type { OtlpTracerOptions } from './otlp-tracer.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>;
}

/** @param settings undefined traces nothing, and loads nothing. */
export async function openTracing(
  settings: TracingSettings | undefined,
  parts: Omit<OtlpTracerOptions, 'settings'>,
): Promise<Tracing> {
  if (settings === undefined) return { tracer: noopTracer, close: async () => undefined };
  const { otlpTracer } = await import('./otlp-tracer.ts');
  return otlpTracer({ ...parts, settings });
}
