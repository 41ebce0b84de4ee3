import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDiskBlobs } from '../../../src/blobs/disk-blobs.ts';
import { clipBlob } from '../../../src/contract/stores/voice-store.ts';
import { voiceStore } from '../../../src/records/stores/voice-store.ts';
import { chunks } from '../../../test/contract/blob-store.cases.ts';
import { voiceRecord } from '../../../test/contract/voice-store.cases.ts';
import { withMethods } from '../../../test/doubles/with-methods.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { type ClipCleanupDeps, startClipCleanup } from './cleanup.ts';

const DAY_S = 86_400;
const never = new AbortController().signal;

async function parts() {
  const folder = await tempDir();
  const clock = new ManualClock();
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const now = Math.floor(clock.now() / 1000);
  const blobs = await openDiskBlobs(folder, clock);
  return {
    voices: voiceStore(records),
    blobs,
    clock,
    log: new RecordingLogger(),
    folder,
    now,
    uploads: await tempDir(),
    /** Stores a blob with the given age. */
    async blob(name: string, ageS: number) {
      await blobs.write(name, chunks('x'), never);
      await utimes(join(folder, name), now - ageS, now - ageS);
    },
    async clips() {
      return (await Array.fromAsync(blobs.list('voices/', never))).map(({ name }) => name).toSorted();
    },
  };
}

/** Runs the first cleanup to its end. */
async function sweep(all: ClipCleanupDeps): Promise<void> {
  const swept = Promise.withResolvers<void>();
  // The last step of a cleanup.
  const blobs = withMethods(all.blobs, {
    async removeUnfinished(signal: AbortSignal) {
      const count = await all.blobs.removeUnfinished(signal);
      swept.resolve();
      return count;
    },
  });
  const running = startClipCleanup({ ...all, blobs });
  await swept.promise;
  await running.close();
}

describe('the cleanup', () => {
  it('deletes all clips without a voice after a day', async () => {
    const all = await parts();
    const known = voiceRecord();
    await all.voices.put(known, 10);
    await all.blob(clipBlob(known.id), 9 * DAY_S);
    await all.blob('voices/tts-vc-voice_young', DAY_S - 60);
    await all.blob('files/file-other', 9 * DAY_S);
    const lost = Array.from({ length: 502 }, (_, at) => `voices/tts-vc-voice_lost${at}`);
    await Promise.all(lost.map((name) => all.blob(name, DAY_S + 60)));
    await sweep(all);
    expect(await all.clips()).toEqual([clipBlob(known.id), 'voices/tts-vc-voice_young'].toSorted());
    expect(await all.blobs.delete('files/file-other')).toBe(true);
    expect(all.log.lines).toMatchObject([{ level: 'info', fields: { clips: 502, unfinished: 0 } }]);
  });

  it('deletes unfinished blobs of crashed processes', async () => {
    const all = await parts();
    const left = join(all.folder, '~unfinished/elsewhere-1-0-1');
    await writeFile(left, 'x');
    await utimes(left, all.now - 7 * 3600, all.now - 7 * 3600);
    await sweep(all);
    expect(all.log.lines).toMatchObject([{ fields: { clips: 0, unfinished: 1 } }]);
  });

  it('deletes uploads of crashed processes', async () => {
    const all = await parts();
    const left = join(all.uploads, 'form-elsewhere-1-0-1');
    await mkdir(left);
    await writeFile(join(left, '0'), 'RIFF');
    await utimes(left, all.now - 7 * 3600, all.now - 7 * 3600);
    await sweep(all);
    expect(await readdir(all.uploads)).toEqual([]);
    expect(all.log.lines).toMatchObject([{ fields: { uploads: 1, clips: 0 } }]);
  });

  it('logs a failure and continues at the next interval', async () => {
    const all = await parts();
    await all.blob('voices/tts-vc-voice_lost', 2 * DAY_S);
    all.voices.filterExisting = () => Promise.reject(new Error('database unavailable'));
    const running = startClipCleanup(all);
    await expect.poll(() => all.log.lines.length).toBe(1);
    await running.close();
    expect(all.log.lines).toMatchObject([{ level: 'error', message: 'clips could not be swept' }]);
    expect(await all.clips()).toHaveLength(1);
  });

  it('stops between two clips when it is closed', async () => {
    const all = await parts();
    for (let at = 0; at < 50; at += 1) await all.blob(`voices/tts-vc-voice_lost${at}`, 2 * DAY_S);
    const deleting = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const remove = all.blobs.delete.bind(all.blobs);
    all.blobs.delete = async (name) => {
      deleting.resolve();
      await goOn.promise;
      return remove(name);
    };
    const running = startClipCleanup(all);
    await deleting.promise;
    const closed = running.close();
    goOn.resolve();
    await closed;
    expect(await all.clips()).toHaveLength(49);
    expect(all.log.lines).toEqual([]);
    await running.close();
  });
});
