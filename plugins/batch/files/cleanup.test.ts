import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDiskBlobs } from '../../../src/blobs/disk-blobs.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { type FileRecord, fileBlob, IDEMPOTENCY_KEY_S } from '../../../src/contract/stores/file-store.ts';
import { batchStore } from '../../../src/records/stores/batch-store.ts';
import { fileStore } from '../../../src/records/stores/file-store.ts';
import { chunks } from '../../../test/contract/blob-store.cases.ts';
import { fileRecord, ROOM } from '../../../test/contract/file-store.cases.ts';
import { withMethods } from '../../../test/doubles/with-methods.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { type CleanupDeps, scheduleFileCleanup } from './cleanup.ts';

const DAY_S = 86_400;
const never = new AbortController().signal;

async function parts() {
  const folder = await tempDir();
  const clock = new ManualClock();
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const now = Math.floor(clock.now() / 1000);
  const all = {
    files: fileStore(records),
    batches: batchStore(records),
    blobs: await openDiskBlobs(folder, clock),
    clock,
    log: new RecordingLogger(),
  };
  return {
    ...all,
    now,
    records,
    folder,
    /** Stores a blob with the given age. */
    async blob(name: string, ageS = 0) {
      await all.blobs.write(name, chunks('x'), never);
      await utimes(join(folder, name), now - ageS, now - ageS);
    },
    async storedBlobs(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
    },
  };
}

/** Runs the first cleanup to its end. */
async function sweep(all: CleanupDeps): Promise<void> {
  const swept = Promise.withResolvers<void>();
  // The last step of a cleanup.
  const blobs = withMethods(all.blobs, {
    async removeUnfinished(signal: AbortSignal) {
      const count = await all.blobs.removeUnfinished(signal);
      swept.resolve();
      return count;
    },
  });
  const running = scheduleFileCleanup({ ...all, blobs });
  await swept.promise;
  await running.close();
}

function batch(input: FileRecord, status: BatchRecord['status'], at: number): BatchRecord {
  return {
    id: newId('batch_'),
    organization: input.organization,
    keyId: 'k',
    endpoint: '/v1/embeddings',
    inputFile: input.id,
    metadata: null,
    status,
    times: { created: at, expires: at + DAY_S },
    counts: { total: 0, completed: 0, failed: 0 },
    tokens: { input: 0, output: 0 },
    errors: [],
  };
}

describe('the cleanup', () => {
  it('deletes all expired files, records and bytes', async () => {
    const all = await parts();
    const { now, files } = all;
    const expired = Array.from({ length: 503 }, (_, at) => fileRecord({ expiresAt: now - at }));
    const kept = [fileRecord(), fileRecord({ expiresAt: now + 1 })];
    await Promise.all(
      [...expired, ...kept].map(async (file) => {
        await files.put(file, ROOM);
        await all.blob(fileBlob(file.id), 2 * DAY_S);
      }),
    );
    await sweep(all);
    expect(await all.storedBlobs()).toEqual(kept.map(({ id }) => fileBlob(id)).sort());
    expect(await files.listExpired(now, 10)).toEqual([]);
    expect(all.log.lines).toEqual([
      {
        level: 'info',
        message: 'files swept',
        fields: { expired: 503, files: 0, parts: 0, keys: 0, unfinished: 0 },
      },
    ]);
  });

  it('keeps a file that a batch reads', async () => {
    const all = await parts();
    const file = fileRecord({ createdAt: all.now - 9000, expiresAt: all.now + 5 });
    await all.files.put(file, ROOM);
    await all.blob(fileBlob(file.id), 9000);
    await all.batches.create(batch(file, 'validating', all.now), 10);
    all.clock.advance(10_000);
    await sweep(all);
    expect(await all.storedBlobs()).toEqual([fileBlob(file.id)]);
  });

  it('deletes blobs without a record after a day', async () => {
    const all = await parts();
    const known = fileRecord();
    await all.files.put(known, ROOM);
    await all.blob(fileBlob(known.id), 9 * DAY_S);
    await all.blob('files/file-young', DAY_S - 60);
    const lost = Array.from({ length: 502 }, (_, at) => `files/file-lost${at}`);
    await Promise.all(lost.map((name) => all.blob(name, DAY_S + 60)));
    await sweep(all);
    expect(await all.storedBlobs()).toEqual([fileBlob(known.id), 'files/file-young'].sort());
  });

  it('deletes old result parts of finished batches but not of open ones', async () => {
    const all = await parts();
    const file = fileRecord();
    await all.files.put(file, ROOM);
    const open = await all.batches.create(batch(file, 'validating', all.now - 3 * DAY_S), 10);
    for (const id of [open.id, 'batch_ended']) {
      await all.blob(`batches/${id}/r-1.output.jsonl`, 2 * DAY_S);
      await all.blob(`batches/${id}/r-2.output.jsonl`, 60);
    }
    await all.blob('batches/batch_young/r-1.output.jsonl', 60);
    await sweep(all);
    const kept = [`${open.id}/r-1`, `${open.id}/r-2`, 'batch_young/r-1'];
    expect(await all.storedBlobs()).toEqual(kept.map((name) => `batches/${name}.output.jsonl`).sort());
    expect((await readdir(join(all.folder, 'batches'))).sort()).toEqual([open.id, 'batch_young'].sort());
  });

  it('deletes unfinished blobs of crashed processes', async () => {
    const all = await parts();
    const left = join(all.folder, '~unfinished/elsewhere-1-0-1');
    await writeFile(left, 'x');
    await utimes(left, all.now - 7 * 3600, all.now - 7 * 3600);
    await sweep(all);
    expect(await all.storedBlobs()).toEqual([]);
    expect(all.log.lines).toMatchObject([{ message: 'files swept', fields: { unfinished: 1 } }]);
  });

  it('deletes old idempotency keys', async () => {
    const all = await parts();
    const { files, now } = all;
    const old = fileRecord({ createdAt: now - IDEMPOTENCY_KEY_S - 1 });
    const young = fileRecord({ createdAt: now - 60 });
    await files.put(old, ROOM, { key: 'old', fingerprint: 'f' });
    await files.put(young, ROOM, { key: 'young', fingerprint: 'f' });
    await sweep(all);
    const left = await all.records.db.selectFrom('idempotency_keys').select('idempotency_key').execute();
    expect(left).toEqual([{ idempotency_key: 'young' }]);
  });

  it('logs a failure and continues at the next interval', async () => {
    const all = await parts();
    const logged = Promise.withResolvers<void>();
    const error = all.log.error.bind(all.log);
    all.log.error = (...line) => {
      error(...line);
      logged.resolve();
    };
    all.files.listExpired = () => Promise.reject(new Error('database unavailable'));
    const running = scheduleFileCleanup(all);
    await logged.promise;
    await running.close();
    expect(all.log.lines).toMatchObject([{ level: 'error', message: 'files could not be swept' }]);
  });

  it('stops between two files when it is closed', async () => {
    const all = await parts();
    for (let at = 0; at < 50; at += 1) await all.blob(`files/file-lost${at}`, 2 * DAY_S);
    const deleting = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const remove = all.blobs.delete.bind(all.blobs);
    all.blobs.delete = async (name) => {
      deleting.resolve();
      await goOn.promise;
      return remove(name);
    };
    const running = scheduleFileCleanup(all);
    await deleting.promise;
    const closed = running.close();
    goOn.resolve();
    await closed;
    expect(await all.storedBlobs()).toHaveLength(49);
    expect(all.log.lines).toEqual([]);
    await running.close();
  });
});
