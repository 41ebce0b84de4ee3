/** Batch jobs with a real database, blobs on disk and a scripted operation. */

import { onTestFinished } from 'vitest';
import { batchMetrics } from '../../plugins/batch/results/metrics.ts';
import { type BatchJobDeps, batchJob, type JobTimes } from '../../plugins/batch/runner/batch-job.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import type { Price } from '../../src/contract/accounts/prices.ts';
import { type Id, newId } from '../../src/contract/core/id.ts';
import type { Operation } from '../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../src/contract/stores/batch-store.ts';
import { fileBlob } from '../../src/contract/stores/file-store.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { batchStore } from '../../src/records/stores/batch-store.ts';
import { fileStore } from '../../src/records/stores/file-store.ts';
import { noMetrics } from '../../tools/harness/doubles/doubles.ts';
import { sharedAccounts } from '../../tools/harness/doubles/usage-parts.ts';
import { tempDir } from './temp-dir.ts';

/** One credit per token. */
export const CHAT_PRICE: Price = {
  endpoint: 'POST /v1/chat/completions',
  model: 'm',
  request: 0n,
  inputToken: 1_000_000n,
  outputToken: 1_000_000n,
  character: 0n,
  audioSecond: 0n,
};

export type CallOperation = Operation['execute'];

/** Short times for tests. */
const SHORT: JobTimes = {
  pollIntervalMs: 20,
  timeSliceMs: 30_000,
  drainMs: 2000,
  retries: { firstMs: 2, maxMs: 20, giveUpAfterMs: 600_000 },
};

export type BatchWork = Awaited<ReturnType<typeof batchWork>>;

/** A line of an input file. */
export function inputLine(id: string, body: object = {}): string {
  return `${JSON.stringify({ custom_id: id, body: { model: 'm', ...body } })}\n`;
}

/** An operation that bills 2 input and 3 output tokens and returns its request body. */
export const echo: CallOperation = async (body, { caller, calls }) => {
  const maxUsage = { inputTokens: 5, outputTokens: 5 };
  const call = await calls.openCall({
    endpoint: 'POST /v1/chat/completions',
    model: 'm',
    caller,
    maxUsage,
  });
  await call.close({ status: 'completed', inputTokens: 2, outputTokens: 3 });
  return JSON.stringify({ echo: body });
};

export async function batchWork({ prices = [] }: { prices?: readonly Price[] } = {}) {
  const accounts = sharedAccounts(prices);
  onTestFinished(() => accounts.close());
  const { records, clock, log } = accounts;
  const [batches, files] = [batchStore(records), fileStore(records)];
  const blobs = await openDiskBlobs(await tempDir(), clock);
  const never = new AbortController().signal;

  const textOf = async (id: Id<'file-'> | undefined): Promise<string> => {
    const bytes = id === undefined ? undefined : await blobs.read(fileBlob(id), never);
    return bytes === undefined ? '' : Buffer.concat(await Array.fromAsync(bytes)).toString();
  };
  const get = async ({ organization, id }: BatchRecord): Promise<BatchRecord> => {
    const batch = await batches.get(organization, id);
    if (batch === undefined) throw new Error('no such batch');
    return batch;
  };
  return {
    accounts,
    batches,
    files,
    blobs,
    clock,
    log,
    get,
    textOf,
    /** Stores an input file and creates a batch. */
    async create(input: string, overrides: Partial<BatchRecord> = {}): Promise<BatchRecord> {
      const created = unixSeconds(clock);
      const id = newId('file-');
      const facts = await blobs.write(fileBlob(id), bytesOf(input), never);
      const organization = overrides.organization ?? 'a';
      const file = { id, organization, purpose: 'batch', filename: 'in.jsonl', createdAt: created } as const;
      await files.put({ ...file, ...facts }, Number.MAX_SAFE_INTEGER);
      const batch: BatchRecord = {
        id: newId('batch_'),
        organization,
        keyId: 'key',
        endpoint: '/v1/chat/completions',
        inputFile: id,
        metadata: null,
        status: 'validating',
        times: { created, expires: created + 86_400 },
        counts: { total: 0, completed: 0, failed: 0 },
        tokens: { input: 0, output: 0 },
        errors: [],
        ...overrides,
      };
      return await batches.create(batch, 100);
    },
    /** The batch job handler of one process. */
    job(call: CallOperation = echo, { times, ...overrides }: JobOverrides = {}) {
      const { lines: lineCalls } = accounts.process();
      return batchJob({
        batches,
        files,
        blobs,
        lineCalls,
        clock,
        log,
        operations: { get: (url) => ({ url, execute: call }) },
        metrics: batchMetrics(noMetrics),
        maxConcurrentLines: 16,
        maxConcurrentBatches: 4,
        maxLineBytes: 65_536,
        random: () => 0.5,
        times: { ...SHORT, ...times },
        ...overrides,
      });
    },
    /** Lines of the result files of a batch. */
    async results(batch: BatchRecord) {
      const { outputFile, errorFile } = await get(batch);
      return { output: linesOf(await textOf(outputFile)), error: linesOf(await textOf(errorFile)) };
    },
  };
}

export type JobOverrides = Partial<Omit<BatchJobDeps, 'times'>> & { readonly times?: Partial<JobTimes> };

async function* bytesOf(text: string) {
  yield new TextEncoder().encode(text);
}

/** A line of a result file. */
export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: unknown;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

function linesOf(text: string): ResultLine[] {
  if (text === '') return [];
  if (!text.endsWith('\n')) throw new Error('the last line of a result file has no line break');
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}
