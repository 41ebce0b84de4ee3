import type { Clock } from '../contract/core/clock.ts';
import type { JobHandler, JobQueue, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { JobStore } from '../contract/stores/job-store.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import type { ProcessIdentity } from '../kit/process/host-id.ts';
import type { JobTiming } from './job-timing.ts';
import { SqlJobRunner } from './sql-job-runner.ts';

/**
 * Jobs of a crashed process are reassigned after 30 s; immediately if a process on the same host detects the
 * crash.
 */
const TIMING: JobTiming = { leaseMs: 30_000, renewalMs: 10_000, pollMs: 1000, firstRetryMs: 1000 };

export interface SqlJobsOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identity of this process. */
  readonly self: ProcessIdentity;
  /** Whether a process of this host is running. */
  readonly isRunning: (pid: number) => boolean;
  readonly timing?: JobTiming | undefined;
  readonly tracer?: Tracer;
}

/**
 * Embedded job queue: jobs in a table, each run with a lease that it renews. Machines that share the database
 * share the jobs, if their clocks differ by less than 30 s.
 */
export function sqlJobs({ timing = TIMING, tracer = noopTracer, ...options }: SqlJobsOptions): JobQueue {
  const runners = new Map<string, SqlJobRunner>();
  return {
    async enqueue(kind, id) {
      await options.store.addJob(kind, id, options.clock.now(), tracer.currentTraceparent());
      runners.get(kind)?.poll();
    },
    startRunner(handler: JobHandler): JobRunner {
      if (runners.has(handler.kind)) throw new Error(`jobs of kind ${handler.kind} already have a runner`);
      const runner = new SqlJobRunner({ ...options, timing, tracer, handler });
      runners.set(handler.kind, runner);
      return {
        async stop() {
          await runner.stop();
          if (runners.get(handler.kind) === runner) runners.delete(handler.kind);
        },
      };
    },
    async close() {
      await Promise.all([...runners.values()].map((runner) => runner.stop()));
    },
  };
}
