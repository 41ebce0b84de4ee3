import type { Clock } from '../contract/core/clock.ts';
import type { JobQueue } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Secret } from '../contract/core/secret.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { JobStore } from '../contract/stores/job-store.ts';
import { hostId, isRunning } from '../kit/process/host-id.ts';
import { sqlJobs } from './sql-jobs.ts';

export interface JobSettings {
  /** Undefined on a single machine, and for machines that share only a database. */
  readonly redisUrl: Secret | undefined;
  /** Table used without Redis. */
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer?: Tracer;
  /** Called for each failed Redis operation; the database reports its own failures. */
  readonly failed?: () => void;
  /** False: this process only enqueues jobs. */
  readonly runs: boolean;
}

/**
 * Opens the job queue: BullMQ if Redis is configured, otherwise a table.
 * @throws StartError if Redis is unavailable.
 */
export async function openJobs({ runs, ...settings }: JobSettings): Promise<JobQueue> {
  const queue = await open(settings);
  return runs ? queue : withoutRunners(queue);
}

async function open({ redisUrl, store, ...options }: Omit<JobSettings, 'runs'>): Promise<JobQueue> {
  if (redisUrl !== undefined) {
    // Imported only if needed, because BullMQ is large.
    const { bullmqJobs } = await import('./bullmq-jobs.ts');
    return bullmqJobs({ url: redisUrl, ...options });
  }
  const self = { hostId: hostId(), pid: process.pid, instance: crypto.randomUUID() };
  return sqlJobs({ store, ...options, self, isRunning });
}

function withoutRunners(queue: JobQueue): JobQueue {
  return {
    enqueue: (...job) => queue.enqueue(...job),
    startRunner: () => ({ stop: async () => undefined }),
    close: () => queue.close(),
  };
}
