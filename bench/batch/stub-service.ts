/** The batch job with a database, a blob folder, and an operation without work. */

import { join } from 'node:path';
import { batchMetrics } from '../../plugins/batch/results/metrics.ts';
import { batchJob } from '../../plugins/batch/runner/batch-job.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import { type Id, newId } from '../../src/contract/core/id.ts';
import type { Operation } from '../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../src/contract/stores/batch-store.ts';
import { fileBlob } from '../../src/contract/stores/file-store.ts';
import { systemClock, unixSeconds } from '../../src/kit/clock.ts';
import { callJournal } from '../../src/records/accounts/call-journal.ts';
import { openRecords } from '../../src/records/open-records.ts';
import { batchStore } from '../../src/records/stores/batch-store.ts';
import { fileStore } from '../../src/records/stores/file-store.ts';
import { CallLedger } from '../../src/usage/call-ledger.ts';
import { LineAccounts } from '../../src/usage/line-accounts.ts';
import { rowMetrics } from '../../src/usage/row-metrics.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { ENDPOINT, MODEL } from './input-file.ts';

/** Defaults of `[batch]` and `[limits]` in CONFIG. */
const DEFAULTS = { maxConcurrentLines: 64, maxConcurrentBatches: 8, maxLineBytes: 8 * 2 ** 20 };
const ORGANIZATION = 'a';
const never = new AbortController().signal;

const echo: Operation['execute'] = async (body) => JSON.stringify({ echo: body });

/** The same with a usage row, as for operations that run a model. */
const billedEcho: Operation['execute'] = async (body, { caller, calls }) => {
  const maxUsage = { inputTokens: 100, outputTokens: 100 };
  const call = await calls.openCall({ endpoint: `POST ${ENDPOINT}`, model: MODEL, caller, maxUsage });
  await call.close({ status: 'completed', inputTokens: 20, outputTokens: 30 });
  return JSON.stringify({ echo: body });
};

/** The caller closes it. */
export async function openStubService(folder: string, { billed }: { billed: boolean }) {
  const records = await openRecords({ kind: 'sqlite', path: join(folder, 'service.sqlite') });
  const blobs = await openDiskBlobs(join(folder, 'blobs'), systemClock);
  const [batches, files] = [batchStore(records), fileStore(records)];
  const ledger = new CallLedger({
    journal: callJournal(records),
    clock: systemClock,
    log: silentLog,
    instance: 'bench',
    findPrice: () => undefined,
  });
  const job = batchJob({
    batches,
    files,
    blobs,
    clock: systemClock,
    log: silentLog,
    ...DEFAULTS,
    lineCalls: new LineAccounts(ledger, rowMetrics(noMetrics)),
    metrics: batchMetrics(noMetrics),
    operations: { get: (url) => ({ url, execute: billed ? billedEcho : echo }) },
  });
  return {
    blobs,
    files,
    /** Stores a file as the input of batches. */
    async upload(path: string): Promise<Id<'file-'>> {
      const id = newId('file-');
      const facts = await blobs.write(fileBlob(id), Bun.file(path).stream(), never);
      const file = { id, organization: ORGANIZATION, purpose: 'batch', filename: 'input.jsonl' } as const;
      await files.put({ ...file, createdAt: unixSeconds(systemClock), ...facts }, Number.MAX_SAFE_INTEGER);
      return id;
    },
    create(inputFile: Id<'file-'>): Promise<BatchRecord> {
      const created = unixSeconds(systemClock);
      const counts = { total: 0, completed: 0, failed: 0 };
      return batches.create(
        {
          id: newId('batch_'),
          organization: ORGANIZATION,
          keyId: 'key',
          endpoint: ENDPOINT,
          inputFile,
          metadata: null,
          status: 'validating',
          times: { created, expires: created + 86_400 },
          counts,
          tokens: { input: 0, output: 0 },
          errors: [],
        },
        Number.MAX_SAFE_INTEGER,
      );
    },
    /** @throws Error unless every line is completed. */
    async run({ id }: BatchRecord): Promise<void> {
      await job.runJob(id, never);
      const batch = await batches.get(ORGANIZATION, id);
      if (batch?.status === 'completed' && batch.counts.completed === batch.counts.total) return;
      throw new Error(`a batch ended as ${batch?.status}: ${JSON.stringify(batch?.counts)}`);
    },
    close: () => records.close(),
  };
}
