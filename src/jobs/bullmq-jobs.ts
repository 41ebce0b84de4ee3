import { Queue } from 'bullmq';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { JobHandler, JobQueue, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Secret } from '../contract/core/secret.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import { openQueueRedis, openWorkerRedis } from '../redis/open-redis.ts';
import { BullmqJobRunner, type JobData, KEY_PREFIX, type QueueOf, RETRY_TYPE } from './bullmq-job-runner.ts';
import type { JobTiming } from './job-timing.ts';

/** Jobs of a crashed machine are reassigned after 8 to 12 s: the lease expires, and another runner polls. */
const TIMING: JobTiming = { leaseMs: 8000, renewalMs: 2000, pollMs: 2000, firstRetryMs: 1000 };
const RETRY_AFTER_S = 2;
/** Number of events that BullMQ keeps in its event stream, which this service does not use. */
const MAX_EVENTS = 100;

export interface BullmqJobsOptions {
  readonly url: Secret;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timing?: JobTiming | undefined;
  readonly tracer?: Tracer;
  /** Called for each failed Redis operation. */
  readonly failed?: () => void;
}

/**
 * Job queue of several machines: BullMQ on Redis. Redis stores only the ids and leases of jobs. If it loses
 * its data, the features enqueue their unfinished jobs again.
 * @throws StartError if Redis is unavailable.
 */
export async function bullmqJobs({
  timing = TIMING,
  tracer = noopTracer,
  ...options
}: BullmqJobsOptions): Promise<JobQueue> {
  const redis = await openQueueRedis(options.url);
  const queues = new Map<string, QueueOf>();
  const runners = new Map<string, BullmqJobRunner>();
  const queueOf = (kind: string): QueueOf => {
    const known = queues.get(kind);
    if (known !== undefined) return known;
    const queue: QueueOf = new Queue<JobData, void, string>(kind, {
      connection: redis,
      prefix: KEY_PREFIX,
      streams: { events: { maxLen: MAX_EVENTS } },
      // BullMQ would otherwise query the version first and stop working if that times out.
      skipVersionCheck: true,
      // Lets the first operation fail if Redis is unavailable, instead of waiting.
      skipWaitingForReady: true,
    });
    // Errors are reported by `enqueue`; without a listener the process would exit.
    queue.on('error', () => undefined);
    queues.set(kind, queue);
    return queue;
  };
  return {
    async enqueue(kind, id) {
      try {
        await queueOf(kind).add(
          kind,
          { forgiven: 0, cause: tracer.currentTraceparent() },
          {
            jobId: id,
            removeOnComplete: true,
            // A job that still fails permanently must not block its own next addition.
            removeOnFail: true,
            attempts: Number.MAX_SAFE_INTEGER,
            backoff: { type: RETRY_TYPE },
            // The error is in the log of this process.
            stackTraceLimit: 0,
          },
        );
      } catch (error) {
        options.failed?.();
        throw new ServiceError('overloaded', 'Job queue unavailable. Retry the request.', {
          code: 'server_overloaded',
          retryAfterS: RETRY_AFTER_S,
          cause: error,
        });
      }
    },
    startRunner(handler: JobHandler): JobRunner {
      if (runners.has(handler.kind)) throw new Error(`jobs of kind ${handler.kind} already have a runner`);
      const runner = new BullmqJobRunner({
        ...options,
        timing,
        tracer,
        handler,
        redis: openWorkerRedis(options.url),
      });
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
      // `queue.close()` would wait for an unavailable server.
      redis.disconnect();
    },
  };
}
