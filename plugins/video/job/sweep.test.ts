import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newId } from '../../../src/contract/core/id.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import { inputBlob, segmentBlob, thumbnailBlob } from '../../../src/contract/stores/video-store.ts';
import { videoApp } from '../../../test/harness/video-app.ts';
import { startVideoSweep } from './sweep.ts';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

/** Runs one sweep over the videos of an app. */
async function swept(app: Awaited<ReturnType<typeof videoApp>>): Promise<string[]> {
  const { store: videos, blobs, clock, log, folder } = app;
  const told = log.lines.length;
  const sweep = startVideoSweep({ videos, blobs, clock, log, folder });
  // The last step of a sweep.
  await expect.poll(() => log.lines.length).toBeGreaterThan(told);
  await sweep.close();
  const names: string[] = [];
  for await (const { name } of blobs.list('videos/', never)) names.push(name);
  return names.sort();
}

async function write(blobs: BlobStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) await blobs.write(name, new Blob(['x']).stream(), never);
}

it('deletes unneeded blobs after a day', async () => {
  const app = await videoApp();
  const [{ id: open }, { id: ended }] = [await app.create(), await app.create()];
  await app.run(ended);
  const { runner = '' } = (await app.store.get('a', ended)) ?? {};
  const gone = newId('video_');
  await write(
    app.blobs,
    inputBlob(ended),
    segmentBlob(ended, 'dead'),
    inputBlob(gone),
    segmentBlob(gone, 'r'),
  );
  // The app has a manual clock, and the files have the real time.
  app.clock.advance(Date.now() - app.clock.now() + 23 * HOUR_MS);
  await write(app.blobs, 'files/of-others');
  const kept = [inputBlob(open), segmentBlob(ended, runner), thumbnailBlob(ended, runner)].sort();

  const early = startVideoSweep({ ...app, videos: app.store });
  await early.close();
  expect(await app.blobs.read(inputBlob(gone), never)).toBeDefined();

  app.clock.advance(2 * HOUR_MS);
  expect(await swept(app)).toEqual(kept);
  expect(await app.blobs.read('files/of-others', never)).toBeDefined();
});

it('deletes folders of requests and runs of crashed processes', async () => {
  const app = await videoApp();
  const { folder, clock } = app;
  for (const name of ['work-old', 'work-new']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'clip'), 'x');
  }
  const hoursAgo = (hours: number) => (clock.now() - hours * HOUR_MS) / 1000;
  await utimes(join(folder, 'work-old'), hoursAgo(7), hoursAgo(7));
  await utimes(join(folder, 'work-new'), hoursAgo(1), hoursAgo(1));
  const sweep = startVideoSweep({ ...app, videos: app.store });
  await expect.poll(() => readdir(folder)).toEqual(['work-new']);
  await sweep.close();
});

it('continues after a failure', async () => {
  const app = await videoApp();
  const list = app.blobs.list;
  app.blobs.list = () => {
    throw new Error('away');
  };
  const sweep = startVideoSweep({ ...app, videos: app.store });
  await expect
    .poll(() => app.log.lines)
    .toMatchObject([{ level: 'error', message: 'videos could not be swept' }]);
  app.blobs.list = list;
  await sweep.close();
});
