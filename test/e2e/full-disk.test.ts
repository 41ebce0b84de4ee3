import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CAN_MOUNT, mountSmallDisk } from '../../tools/harness/servers/small-disk.ts';
import { createBatch, retrieveBatch, uploadInput } from '../../tools/harness/services/batch-service.ts';
import { EMBED_MODEL } from '../../tools/harness/services/full-service.ts';
import { launchService, NO_MODELS, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { seriesValue } from '../harness/metric-values.ts';
import { needs } from '../harness/needs.ts';

const FULL = { error: { message: 'Server storage is full. Retry later.', code: 'server_overloaded' } };

test('a full disk is named by responses, /readyz, /metrics and waiting batches', async (context) => {
  needs(context, CAN_MOUNT, 'the right to mount a disk');
  const disk = await mountSmallDisk(16);
  onTestFinished(() => disk.close());
  const service = await launchService({ config: NO_MODELS, dataDir: join(disk.folder, 'data') });
  onTestFinished(async () => void (await service.stop()));
  const readyz = async () => {
    const response = await service.fetch('/readyz');
    const { storage } = (await response.json()) as { storage: Record<string, unknown> };
    return { status: response.status, storage };
  };
  const metric = async (name: string) => seriesValue(await (await service.fetch('/metrics')).text(), name);
  const post = async (path: string, body: unknown) => {
    const headers = { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' };
    const response = await service.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  const space = { ready: true };
  expect((await readyz()).storage).toEqual({ database: space, blobs: space, data_dir: space });
  await expect.poll(() => metric('storage_free_bytes')).toBeGreaterThan(0);

  // Its model has no server, so it cannot finish.
  const line = { custom_id: 'a', body: { model: EMBED_MODEL, input: 'The cat sat.' } };
  const input = await uploadInput(service, `${JSON.stringify(line)}\n`);
  const batch = await createBatch(service, input, '/v1/embeddings');
  expect(batch).not.toHaveProperty('status_detail');

  await disk.fill();
  const none = { ready: false, detail: 'storage is full' };
  const storage = { database: none, blobs: none, data_dir: none };
  await expect.poll(readyz).toEqual({ status: 503, storage });
  await expect.poll(() => metric('storage_database_full')).toBe(1);
  expect(await metric('storage_blobs_full')).toBe(1);
  expect(await metric('storage_free_bytes')).toBe(0);
  // The database.
  expect(await post('/v1/keys', { name: 'new' })).toMatchObject({ status: 503, body: FULL });
  // The blobs. The database may have freed a few pages.
  await expect(uploadInput(service, `${' '.repeat(2 << 20)}\n`)).rejects.toThrow(FULL.error.message);
  // The page is cached for a moment.
  await expect.poll(() => metric('store_failures_total{store="blobs"}')).toBe(1);
  expect(await retrieveBatch(service, batch.id)).toMatchObject({
    status_detail: 'Server storage is full. The batch waits for space and then continues.',
  });
});
