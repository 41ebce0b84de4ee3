import { Queue } from 'bullmq';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { JobHandler, JobKind, JobQueue, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Secret } from '../contract/core/secret.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import { openQueueRedis, openWorkerRedis } from '../redis/open-redis.ts';
import { BullmqJobRunner, type JobData, KEY_PREFIX, type QueueOf, RETRY_TYPE } from './bullmq-job-runner.ts';
import type { JobTiming } from './job-timing.ts';

/** A machine that dies is taken for dead when its lease has ended and somebody looked: after 8 to 12 s. */
const TIMING: JobTiming = { leaseMs: 8000, renewalMs: 2000, pollMs: 2000, firstRetryMs: 1000 };
const RETRY_AFTER_S = 2;
/** Names of jobs that a queue keeps for whoever reads its events; nobody does. */
const EVENTS_KEPT = 100;

export interface BullmqJobsOptions {
  readonly url: Secret;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timing?: JobTiming | undefined;
  readonly tracer?: Tracer;
  /** Told of what Redis did not answer, or refused. */
  readonly failed?: () => void;
}

/**
 * The queue of several machines: BullMQ on Redis. Redis knows which jobs there are and who has them, and nothing
 * more: a Redis that lost everything is filled again by whoever keeps what the jobs are about.
 * @throws StartError when Redis cannot be reached.
 */
export async function bullmqJobs({
  timing = TIMING,
  tracer = noopTracer,
  ...parts
}: BullmqJobsOptions): Promise<JobQueue> {
  const redis = await openQueueRedis(parts.url);
  const queues = new Map<JobKind, QueueOf>();
  const runners = new Map<JobKind, BullmqJobRunner>();
  const queueOf = (kind: JobKind): QueueOf => {
    const known = queues.get(kind);
    if (known !== undefined) return known;
    const queue: QueueOf = new Queue<JobData, void, JobKind>(kind, {
      connection: redis,
      prefix: KEY_PREFIX,
      streams: { events: { maxLen: EVENTS_KEPT } },
      // It would ask for the version first, and never work again when that is not answered in time.
      skipVersionCheck: true,
      // A queue that is first used while Redis is away fails as any other does then.
      skipWaitingForReady: true,
    });
    // Failures are those of `add`; without a listener the process would end.
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
            // A job that is lost to Redis all the same must not block its own next addition.
            removeOnFail: true,
            attempts: Number.MAX_SAFE_INTEGER,
            backoff: { type: RETRY_TYPE },
            // What failed is in the log of this process.
            stackTraceLimit: 0,
          },
        );
      } catch (error) {
        parts.failed?.();
        throw new ServiceError('overloaded', 'The queue of jobs cannot be reached. Send the request again.', {
          code: 'server_overloaded',
          retryAfterS: RETRY_AFTER_S,
          cause: error,
        });
      }
    },
    startRunner(handler: JobHandler): JobRunner {
      if (runners.has(handler.kind)) throw new Error(`jobs of kind ${handler.kind} have a runner already`);
      const runner = new BullmqJobRunner({
        ...{ ...parts, timing, tracer, handler },
        redis: openWorkerRedis(parts.url),
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
      // Not `queue.close()`, which says goodbye to a server that may be away.
      redis.disconnect();
    },
  };
}
