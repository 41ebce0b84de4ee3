import type { JobHandler, JobOutcome } from '../contract/core/jobs.ts';
import type { Traceparent, Tracer } from '../contract/core/tracer.ts';
import { withSpan } from '../kit/logging/spans.ts';

/** A job and the trace context of the request that enqueued it. */
export interface TracedJob {
  readonly id: string;
  readonly cause: Traceparent | undefined;
}

/** Runs a job in its own trace, linked to the span that enqueued it. */
export function runJobInSpan(
  tracer: Tracer,
  handler: JobHandler,
  { id, cause }: TracedJob,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const start = { parent: 'none', cause, attributes: { kind: handler.kind, job: id } };
  return withSpan(tracer, 'job', start, async (span) => {
    const outcome = await handler.runJob(id, signal);
    span.set({ outcome: outcome.kind });
    return outcome;
  });
}
