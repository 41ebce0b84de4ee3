import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FileService } from '../../plugins/batch/files/file-service.ts';
import { fileRoutes } from '../../plugins/batch/files/routes.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import type { BlobStore } from '../../src/contract/stores/blob-store.ts';
import { bind } from '../../src/http/route.ts';
import { type ConnectionServer, setServerOf } from '../../src/http/transport/connection-server.ts';
import { fileStore } from '../../src/records/stores/file-store.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { WireAnswer } from './response-app.ts';
import { tempDir } from './temp-dir.ts';
import { KEY_A, testApp } from './test-app.ts';

export const FILES = '/v1/files';
/** Default size limit of a file. */
export const FILE_BYTES = 256 * 1024;

export interface FileAppOptions {
  readonly perOrganization?: number;
  /** Storage limit of an organization, in bytes. */
  readonly storedBytes?: number;
  /** Size limit of a file, in bytes. */
  readonly fileBytes?: number;
  /** Wraps the blob store, to simulate failures. */
  readonly blobs?: (real: BlobStore) => BlobStore;
}

export type Entry = readonly [name: string, value: string | File];

/** A form with the given entries in order. */
export function formOf(...entries: readonly Entry[]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

export const lines = (text = '{}\n', name = 'lines.jsonl') => new File([text], name);

/** The app with the file routes, blobs on disk and in-memory SQLite. */
export async function fileApp({
  perOrganization = 100,
  storedBytes: storedBytesPerOrganization = Number.MAX_SAFE_INTEGER,
  fileBytes = FILE_BYTES,
  blobs: changed = (it) => it,
}: FileAppOptions = {}) {
  const folder = await tempDir();
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const store = fileStore(records);
  const blobs = changed(await openDiskBlobs(folder, clock));
  const files = new FileService({
    files: store,
    blobs,
    clock,
    log,
    uploadsPerOrganization: perOrganization,
    storedBytesPerOrganization,
  });
  const app = testApp({ routes: [bind(fileRoutes(fileBytes), { files })] });
  onTestFinished(() => app.close());
  const send = async (path: string, init: RequestInit = {}, key = KEY_A) => {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string>) };
    return (await app.send(path, { ...init, headers })) as WireAnswer;
  };
  const upload = (entries: readonly Entry[], headers: Record<string, string> = {}, key = KEY_A) =>
    send(FILES, { method: 'POST', body: formOf(...entries), headers }, key);
  return {
    app,
    clock,
    log,
    records,
    store,
    blobs,
    files,
    folder,
    send,
    upload,
    /** Uploads a text. Returns the file object. */
    async add(text = '{}\n', name = 'lines.jsonl', key = KEY_A) {
      const response = await upload(
        [
          ['purpose', 'batch'],
          ['file', lines(text, name)],
        ],
        {},
        key,
      );
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return response.json();
    },
    /** Paths of all files on disk, including unfinished ones. */
    async storedBlobs(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((it) => it.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    },
  };
}

/** {@link fileApp} on a real socket at `origin`. */
export async function fileServer(options: FileAppOptions = {}) {
  const parts = await fileApp(options);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request, self) {
      setServerOf(self as ConnectionServer, request);
      return parts.app.app.fetch(request);
    },
  });
  onTestFinished(() => server.stop(true));
  return { ...parts, origin: `http://127.0.0.1:${server.port}` };
}
