import { describe, expect, it, test } from 'vitest';
import type { Price } from '../../../src/contract/accounts/prices.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { inputBlob, type VideoRecord } from '../../../src/contract/stores/video-store.ts';
import { hang, makeIt } from '../../../test/doubles/fake-video-engine.ts';
import { type VideoAppOptions, videoApp } from '../../../test/harness/video-app.ts';

const NOW = 1_767_323_045;
const DAY_MS = 86_400_000;
/** Half a credit per request, one credit per thousand tokens of either side. */
const PRICE: Price = {
  endpoint: 'POST /v1/videos/extensions',
  model: 'vid-2.0',
  request: 500_000_000_000n,
  inputToken: 1_000_000_000n,
  outputToken: 1_000_000_000n,
  character: 0n,
  audioSecond: 0n,
};
const GRANTED = 1_000_000_000;
/** 4 s of input and 5 s of output at 1280 × 720. */
const COST = 500_000 + 86_400_000 + 108_000_000;

const overloaded = () =>
  new ServiceError('overloaded', 'Later.', { code: 'server_overloaded', retryAfterS: 1 });

/** An app with a queued job. */
async function queued(options: VideoAppOptions = {}) {
  const app = await videoApp({ prices: [PRICE], ...options });
  await app.credits.grant('a', GRANTED, NOW);
  const { id }: { id: VideoRecord['id'] } = await app.create();
  return {
    ...app,
    id,
    video: async () => (await (await app.send(`/v1/videos/${id}`)).json()) as Record<string, unknown>,
    blobNames: async () =>
      (await app.held())
        .map((path) => path.split('/blobs/')[1] ?? path)
        .filter((name) => !name.includes('/work/'))
        .sort(),
    rows: async () => (await app.usage.list({ organization: 'a', limit: 5 })).records,
  };
}

describe('a run', () => {
  it('generates and stores the segment and settles its cost', async () => {
    const app = await queued();
    expect(await app.credits.balance('a')).toMatchObject({ reserved: COST });
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.video()).toMatchObject({ status: 'completed', progress: 100 });
    expect(await app.credits.balance('a')).toMatchObject({
      available: GRANTED - COST,
      reserved: 0,
      revenue: COST,
    });
    expect(await app.rows()).toMatchObject([
      {
        endpoint: 'POST /v1/videos/extensions',
        model: 'vid-2.0',
        status: 'completed',
        inputTokens: 86_400,
        outputTokens: 108_000,
      },
    ]);
    const { runner } = (await app.store.get('a', app.id)) ?? {};
    // The clip and the folder of the run are deleted.
    expect(await app.blobNames()).toEqual([
      `videos/${app.id}/${runner}.mp4`,
      `videos/${app.id}/${runner}.webp`,
    ]);
    const page = await app.metrics.render();
    expect(page).toContain('videos_finished_total{status="completed"} 1');
    expect(page).toContain('video_generation_seconds_count{model="vid-2.0"} 1');
  });

  it('passes all parameters to the engine, with a local path of the clip', async () => {
    const app = await queued();
    let clip = '';
    app.engine.script.push(async (request, work, signal) => {
      clip = await Bun.file(request.clip).text();
      return makeIt(request, work, signal);
    });
    await app.run(app.id);
    expect(clip).toContain('fakeClip');
    expect(app.engine.requests).toMatchObject([
      {
        video: app.id,
        prompt: 'The camera pans on.',
        seconds: 5,
        width: 1280,
        height: 720,
        audio: true,
        facts: { durationS: 4 },
        savedState: undefined,
      },
    ]);
  });

  it('of a finished video deletes what a crashed runner left behind', async () => {
    const app = await queued();
    await app.run(app.id);
    const left = [inputBlob(app.id), `videos/${app.id}/dead.mp4`];
    const never = new AbortController().signal;
    for (const name of left) await app.blobs.write(name, new Blob(['left']).stream(), never);
    expect(await app.blobNames()).toHaveLength(4);
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.blobNames()).toHaveLength(2);
    expect((await app.send(`/v1/videos/${app.id}/content`)).status).toBe(200);
  });

  it('of a deleted or unknown video deletes its blobs', async () => {
    const app = await queued();
    await app.run(app.id);
    await app.store.delete('a', app.id);
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.blobNames()).toEqual([]);
  });
});

describe('a run that fails', () => {
  test.each([
    ['generation_failed', invalidRequest('It is too dark.'), 'It is too dark.'],
    [
      'content_policy_violation',
      new ServiceError('invalid_request', 'Not this.', { code: 'content_policy_violation' }),
      'Not this.',
    ],
    ['upstream_error', new ServiceError('upstream', 'It broke there.'), 'It broke there.'],
    ['timeout', new ServiceError('timeout', 'Too slow.'), 'Too slow.'],
    ['generation_failed', new Error('a private word'), /Internal server error/],
  ])('permanently ends the video with %s and is free', async (code, error, message) => {
    const app = await queued();
    app.engine.script.push(() => Promise.reject(error));
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.video()).toMatchObject({
      status: 'failed',
      progress: 0,
      completed_at: NOW,
      error: { code, message: typeof message === 'string' ? message : expect.stringMatching(message) },
    });
    expect(await app.credits.balance('a')).toMatchObject({ available: GRANTED, reserved: 0, revenue: 0 });
    expect(await app.rows()).toMatchObject([{ status: 'failed', inputTokens: 0, outputTokens: 0 }]);
    expect(await app.blobNames()).toEqual([]);
    expect(await app.folders()).toEqual([]);
    expect(JSON.stringify(app.log.lines)).not.toContain('private');
  });

  it('because of overload is retried with growing delays until the timeout', async () => {
    const app = await queued();
    const refuse = () => app.engine.script.push(() => Promise.reject(overloaded()));
    const delays: number[] = [];
    for (const waitedMs of [0, 20_000, 600_000]) {
      app.clock.advance(waitedMs);
      refuse();
      const outcome = await app.run(app.id);
      if (outcome.kind === 'again') delays.push(outcome.delayMs);
    }
    expect(delays).toEqual([2000, 5000, 60_000]);
    expect(await app.video()).toMatchObject({ status: 'in_progress' });
    expect(await app.blobNames()).toEqual([inputBlob(app.id)]);

    app.clock.advance(DAY_MS);
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.video()).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    expect(await app.credits.balance('a')).toMatchObject({ available: GRANTED, reserved: 0 });
  });

  it('because its clip or model is lost ends the video', async () => {
    const [first, second] = [await queued(), await queued()];
    await first.blobs.delete(inputBlob(first.id));
    await first.run(first.id);
    expect(await first.video()).toMatchObject({
      error: { code: 'generation_failed', message: 'The clip of this video is lost.' },
    });
    await second.records.db.updateTable('videos').set({ model: 'gone' }).execute();
    await second.run(second.id);
    expect(await second.video()).toMatchObject({
      error: { code: 'generation_failed', message: "The model 'gone' is no longer available." },
    });
  });

  it('permanently deletes the remote job of an earlier run', async () => {
    const app = await queued();
    const stopping = new AbortController();
    app.engine.script.push(async (request, work, signal) => {
      await work.saveState('job 7 over there');
      setImmediate(() => stopping.abort());
      return hang(request, work, signal);
    });
    await app.run(app.id, stopping.signal);
    await app.blobs.delete(inputBlob(app.id));
    await app.run(app.id);
    expect(await app.video()).toMatchObject({ status: 'failed' });
    expect(app.engine.forgotten).toEqual(['job 7 over there']);
  });

  it('because a store is unavailable is retried by the queue, and the video is unchanged', async () => {
    const app = await queued();
    const { read } = app.blobs;
    app.blobs.read = () => Promise.reject(overloaded());
    expect(await app.run(app.id)).toMatchObject({ kind: 'again' });
    app.blobs.read = read;
    const { write } = app.blobs;
    app.blobs.write = () => Promise.reject(overloaded());
    await expect(app.run(app.id)).rejects.toMatchObject({ kind: 'overloaded' });
    app.blobs.write = write;
    expect(await app.video()).toMatchObject({ status: 'in_progress' });
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    expect(await app.rows()).toHaveLength(1);
  });
});

describe('a run that is stopped', () => {
  it('leaves the video to the next run, which resumes from the saved engine state', async () => {
    const app = await queued();
    const stopping = new AbortController();
    app.engine.script.push(async (request, work, signal) => {
      await work.saveState('job 7 over there');
      setImmediate(() => stopping.abort(new Error('the process stops')));
      return hang(request, work, signal);
    });
    expect(await app.run(app.id, stopping.signal)).toEqual({ kind: 'again', delayMs: 0 });
    expect(await app.video()).toMatchObject({ status: 'in_progress' });
    expect(await app.blobNames()).toEqual([inputBlob(app.id)]);
    expect(await app.rows()).toEqual([]);
    await app.run(app.id);
    expect(app.engine.requests.at(-1)).toMatchObject({ savedState: 'job 7 over there' });
    expect(await app.video()).toMatchObject({ status: 'completed' });
  });

  it('times out after a day, and its remote job is deleted', async () => {
    const app = await queued();
    const stopping = new AbortController();
    app.engine.script.push(async (request, work, signal) => {
      await work.saveState('job 7 over there');
      setImmediate(() => stopping.abort());
      return hang(request, work, signal);
    });
    await app.run(app.id, stopping.signal);
    app.clock.advance(DAY_MS);
    await app.run(app.id);
    expect(app.engine.forgotten).toEqual(['job 7 over there']);
    expect(app.engine.requests).toHaveLength(1);
  });

  it('after the segment was generated still stores it', async () => {
    const app = await queued();
    const stopping = new AbortController();
    const { write } = app.blobs;
    app.blobs.write = (name, bytes, signal) => {
      stopping.abort();
      return write.call(app.blobs, name, bytes, signal);
    };
    expect(await app.run(app.id, stopping.signal)).toEqual({ kind: 'done' });
    expect(await app.video()).toMatchObject({ status: 'completed' });
  });

  it('after the grace period leaves unstored segments to the next run', async () => {
    const app = await queued();
    const { write } = app.blobs;
    app.blobs.write = (name, bytes, signal) => {
      app.job.abandon();
      return write.call(app.blobs, name, bytes, signal);
    };
    await expect(app.run(app.id)).rejects.toMatchObject({ kind: 'overloaded' });
    expect(await app.video()).toMatchObject({ status: 'in_progress' });
    expect(await app.blobNames()).toEqual([inputBlob(app.id)]);
    expect(await app.rows()).toEqual([]);
  });
});

it('keeps a remote result until it is stored locally', async () => {
  const app = await queued();
  app.engine.script.push(async (request, work, signal) => {
    await work.saveState('job 7 over there');
    return makeIt(request, work, signal);
  });
  const { write } = app.blobs;
  app.blobs.write = () => Promise.reject(overloaded());
  await expect(app.run(app.id)).rejects.toMatchObject({ kind: 'overloaded' });
  expect(app.engine.forgotten).toEqual([]);
  app.blobs.write = write;
  expect(await app.run(app.id)).toEqual({ kind: 'done' });
  expect(app.engine.requests.map(({ savedState }) => savedState)).toEqual([undefined, 'job 7 over there']);
  expect(app.engine.forgotten).toEqual(['job 7 over there']);
});

it.each(['completed', 'failed'])('deletes a remote result when the job is finished: %s', async (status) => {
  const app = await queued();
  app.engine.script.push(async (request, work, signal) => {
    await work.saveState('job 7 over there');
    if (status === 'failed') throw invalidRequest('It is too dark.');
    return makeIt(request, work, signal);
  });
  await app.run(app.id);
  expect(await app.video()).toMatchObject({ status });
  expect(app.engine.forgotten).toEqual(['job 7 over there']);
});

describe('two runs of one video', () => {
  it('finish it once: a stalled run changes nothing and leaves no files', async () => {
    const app = await queued();
    const release = Promise.withResolvers<void>();
    const running = Promise.withResolvers<void>();
    app.engine.script.push(async (request, work, signal) => {
      running.resolve();
      await release.promise;
      return makeIt({ ...request, seconds: 9 }, work, signal);
    });
    const slow = app.run(app.id);
    await running.promise;
    expect(await app.run(app.id)).toEqual({ kind: 'done' });
    const before = [await app.store.get('a', app.id), await app.blobNames()];
    release.resolve();
    expect(await slow).toEqual({ kind: 'done' });
    expect([await app.store.get('a', app.id), await app.blobNames()]).toEqual(before);
    expect(await app.rows()).toHaveLength(1);
    expect(await app.credits.balance('a')).toMatchObject({ available: GRANTED - COST, revenue: COST });
  });

  it('the first cannot save its engine state any more, and its engine stops', async () => {
    const app = await queued();
    const release = Promise.withResolvers<void>();
    const running = Promise.withResolvers<void>();
    app.engine.script.push(async (request, work, signal) => {
      running.resolve();
      await release.promise;
      await work.saveState('too late');
      return makeIt(request, work, signal);
    });
    const slow = app.run(app.id);
    await running.promise;
    app.engine.script.push(hang);
    const stopping = new AbortController();
    const other = app.run(app.id, stopping.signal);
    await expect.poll(() => app.engine.requests.length).toBe(2);
    release.resolve();
    expect(await slow).toEqual({ kind: 'again', delayMs: 0 });
    expect((await app.store.get('a', app.id))?.savedState).toBeUndefined();
    stopping.abort();
    await other;
  });
});
