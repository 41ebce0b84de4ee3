import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { type JobMachine, jobQueueCases } from '../../test/contract/job-queue.cases.ts';
import { freshRedis, groupPostgres } from '../../test/harness/group-servers.ts';
import { needs } from '../../test/harness/needs.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { ServiceError } from '../contract/core/error.ts';
import { Secret } from '../contract/core/secret.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { JobStore } from '../contract/stores/job-store.ts';
import { systemClock } from '../kit/clock.ts';
import { parsePostgresUrl } from '../kit/validation/postgres-url.ts';
import { openRecords } from '../records/open-records.ts';
import type { Records } from '../records/schema/records.ts';
import { jobStore } from '../records/stores/job-store.ts';
import { bullmqJobs } from './bullmq-jobs.ts';
import type { JobTiming } from './job-timing.ts';
import { sqlJobs } from './sql-jobs.ts';

/** Runs the shared queue suite (test/contract) for every queue. */

/** Machines that share a table, each with a connection that can be cut. */
function tableJobs(records: Records, timing: JobTiming) {
  const opened: JobMachine[] = [];
  return {
    async machine(tracer?: Tracer) {
      let isCut = false;
      const store = jobStore(records);
      const guarded = new Proxy(store, {
        get: (target, name) =>
          isCut
            ? () =>
                Promise.reject(
                  new ServiceError('overloaded', 'cut', { code: 'server_overloaded', retryAfterS: 1 }),
                )
            : target[name as keyof JobStore],
      });
      const self = { hostId: 'here', pid: 1 + opened.length, instance: `${opened.length}` };
      const machine: JobMachine = {
        queue: sqlJobs({
          store: guarded,
          clock: systemClock,
          log: silentLog,
          self,
          timing,
          ...(tracer && { tracer }),
          isRunning: () => true,
        }),
        cut() {
          isCut = true;
        },
        repair() {
          isCut = false;
        },
      };
      opened.push(machine);
      return machine;
    },
    async close() {
      for (const { queue } of opened) await queue.close();
    },
  };
}

describe('a table in SQLite', () => {
  jobQueueCases(async (timing) => {
    const records = await openRecords({ kind: 'sqlite', path: ':memory:' });
    const jobs = tableJobs(records, timing);
    return {
      ...jobs,
      async close() {
        await jobs.close();
        await records.close();
      },
    };
  });
});

describe('a table in PostgreSQL', () => {
  let records: Records | undefined;
  beforeAll(async () => {
    if (!HAS_POSTGRES) return;
    const { freshDatabase } = await groupPostgres();
    records = await openRecords(parsePostgresUrl(await freshDatabase()));
  });
  afterAll(() => records?.close());
  beforeEach((context) => needs(context, HAS_POSTGRES, 'PostgreSQL'));
  jobQueueCases(async (timing) => {
    if (records === undefined) throw new Error('the server was not started');
    await sql`TRUNCATE jobs`.execute(records.db);
    return tableJobs(records, timing);
  });
});

describe('BullMQ on Redis', () => {
  beforeEach((context) => needs(context, HAS_REDIS, 'Redis'));
  jobQueueCases(async (timing) => {
    const server = new URL(await freshRedis());
    const opened: { machine: JobMachine; close(): Promise<void> }[] = [];
    return {
      async machine(tracer) {
        const proxy = await startCutProxy(Number(server.port));
        const url = new Secret(`redis://127.0.0.1:${proxy.port}${server.pathname}`);
        const queue = await bullmqJobs({
          url,
          clock: systemClock,
          log: silentLog,
          timing,
          ...(tracer && { tracer }),
        });
        const machine = { queue, cut: proxy.cut, repair: proxy.repair };
        const close = async () => {
          await queue.close();
          await proxy.close();
        };
        opened.push({ machine, close });
        return machine;
      },
      async close() {
        for (const each of opened) await each.close();
      },
    };
  });
});
