import { onTestFinished } from 'vitest';
import { BatchService } from '../../plugins/batch/batches/batch-service.ts';
import { BATCH_ROUTES } from '../../plugins/batch/batches/routes.ts';
import type { BatchRecord } from '../../src/contract/stores/batch-store.ts';
import type { FileRecord } from '../../src/contract/stores/file-store.ts';
import type { StorageHealth } from '../../src/contract/stores/storage-health.ts';
import { bind } from '../../src/http/route.ts';
import { batchStore } from '../../src/records/stores/batch-store.ts';
import { fileStore } from '../../src/records/stores/file-store.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { fileRecord } from '../contract/file-store.cases.ts';
import type { WireAnswer } from './response-app.ts';
import { KEY_A, testApp } from './test-app.ts';

export const BATCHES = '/v1/batches';

export interface BatchAppOptions {
  readonly openPerOrganization?: number;
  /** Error that the queue throws. */
  readonly queueFailure?: () => Error | undefined;
  /** Whether a store is full. */
  readonly isFull?: StorageHealth['isFull'];
}

/** The app with the batch routes and an in-memory database, without runners. */
export async function batchApp(options: BatchAppOptions = {}) {
  const { openPerOrganization = 100, queueFailure, isFull = () => false } = options;
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const [store, files] = [batchStore(records), fileStore(records)];
  const log = new RecordingLogger();
  const clock = new ManualClock();
  const queued: string[] = [];
  const jobs = {
    async enqueue(_: string, id: string) {
      const failure = queueFailure?.();
      if (failure !== undefined) throw failure;
      queued.push(id);
    },
  };
  const batches = new BatchService({ batches: store, jobs, clock, log, openPerOrganization });
  const app = testApp({
    routes: [bind(BATCH_ROUTES, { batches, store, storage: { isFull } })],
  });
  onTestFinished(() => app.close());

  const send = async (path: string, init: RequestInit & { key?: string } = {}): Promise<WireAnswer> => {
    const { key = KEY_A, headers, ...rest } = init;
    return app.send(path, { ...rest, headers: { 'x-api-key': key, ...headers } });
  };
  /** Stores the record of a file, without content. */
  const putFile = async (overrides: Partial<FileRecord> = {}) => {
    const file = fileRecord(overrides);
    await files.put(file, Number.MAX_SAFE_INTEGER);
    return file;
  };
  const post = (body: unknown, init: Parameters<typeof send>[1] = {}) =>
    send(BATCHES, {
      method: 'POST',
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
      body: JSON.stringify(body),
    });
  return {
    app,
    store,
    files,
    clock,
    log,
    queued,
    send,
    post,
    putFile,
    /** Creates a batch with a new input file. */
    async create(fields: object = {}, init: Parameters<typeof send>[1] = {}) {
      const organization = init.key === undefined ? 'a' : 'b';
      const { id } = await putFile({ organization });
      const response = await post({ input_file_id: id, endpoint: '/v1/embeddings', ...fields }, init);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return await response.json();
    },
    /** Completes a batch without lines, like a runner. */
    async complete(id: BatchRecord['id'], at: number) {
      await store.claim(id, 'r');
      await store.startProcessing(id, 'r', { total: 0, model: undefined, at });
      await store.finalize(id, 'r', at);
      await store.finish(id, 'r', { status: 'completed', files: {}, at });
    },
  };
}
