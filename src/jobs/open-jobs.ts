import type { Clock } from '../contract/core/clock.ts';
import type { JobQueue } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Secret } from '../contract/core/secret.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { JobStore } from '../contract/stores/job-store.ts';
import { isRunning, hostId } from '../kit/process/host-id.ts';
import { bullmqJobs } from './bullmq-jobs.ts';
import { sqlJobs } from './sql-jobs.ts';

export interface JobSettings {
  /** Undefined on one machine alone, and with machines that share a database only. */
  readonly redisUrl: Secret | undefined;
  /** The table that is used without Redis. */
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer?: Tracer;
  /** Told of what Redis did not answer, or refused; failures of the table are told by the database. */
  readonly failed?: () => void;
  /** False: jobs are made known here, and run elsewhere. */
  readonly runs: boolean;
}

/**
 * Opens the queue: BullMQ where there is a Redis, else a table.
 * @throws StartError when Redis cannot be reached.
 */
export async function openJobs({ runs, ...settings }: JobSettings): Promise<JobQueue> {
  const queue = await open(settings);
  return runs ? queue : withoutRunners(queue);
}

async function open({ redisUrl, store, ...words }: Omit<JobSettings, 'runs'>): Promise<JobQueue> {
  if (redisUrl !== undefined) return bullmqJobs({ url: redisUrl, ...words });
  const self = { hostId: hostId(), pid: process.pid, instance: crypto.randomUUID() };
  return sqlJobs({ store, ...words, self, isRunning });
}

function withoutRunners(queue: JobQueue): JobQueue {
  return {
    enqueue: (...job) => queue.enqueue(...job),
    startRunner: () => ({ stop: async () => undefined }),
    close: () => queue.close(),
  };
}
