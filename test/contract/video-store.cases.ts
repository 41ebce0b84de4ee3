import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, next } from '../../plugins/video/job/state-machine.ts';
import type { CreditStore } from '../../src/contract/accounts/accounts-store.ts';
import type { JobBill } from '../../src/contract/accounts/calls.ts';
import type { UsageReader, UsageStatus } from '../../src/contract/accounts/usage.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { ClipFacts } from '../../src/contract/engines/video.ts';
import type { IdempotencyKey } from '../../src/contract/stores/file-store.ts';
import {
  FINAL_VIDEO_STATUSES,
  type GeneratedVideo,
  OPEN_VIDEO_STATUSES,
  type VideoOutcome,
  type VideoQuota,
  type VideoRecord,
  type VideoStatus,
  type VideoStore,
} from '../../src/contract/stores/video-store.ts';

const NOW = 1_767_323_045;
const ROOM: VideoQuota = { maxOpen: 1000, maxBytes: Number.MAX_SAFE_INTEGER };

/** The video store and the stores that it changes, in one database. */
export interface VideoStores {
  readonly videos: VideoStore;
  readonly credits: CreditStore;
  readonly usage: UsageReader;
}

export function clipFacts(overrides: Partial<ClipFacts> = {}): ClipFacts {
  return {
    container: 'mp4',
    videoCodec: 'avc',
    width: 1280,
    height: 720,
    fps: 24,
    frames: 96,
    durationS: 4,
    audio: { codec: 'aac', rateHz: 48_000, channels: 2, durationS: 4 },
    lengthBytes: 1000,
    ...overrides,
  };
}

export function videoRecord(overrides: Partial<VideoRecord> = {}): VideoRecord {
  return {
    id: newId('video_'),
    organization: 'a',
    call: newId('usage_'),
    requestId: newId('req_'),
    model: 'vid-2.0',
    prompt: 'The camera pans on.',
    status: 'queued',
    createdAt: NOW,
    seconds: 5,
    width: 1280,
    height: 720,
    audio: true,
    clip: clipFacts(),
    ...overrides,
  };
}

export const RESULT: GeneratedVideo = {
  segment: { width: 1280, height: 720, seconds: 5, audio: true },
  video: { lengthBytes: 700, sha256: 'a'.repeat(64) },
  thumbnail: { lengthBytes: 70, sha256: 'b'.repeat(64) },
};
const COMPLETED: VideoOutcome = { status: 'completed', result: RESULT, at: NOW + 9 };
const FAILED: VideoOutcome = {
  status: 'failed',
  error: { code: 'upstream_error', message: 'It broke.' },
  at: NOW + 9,
};

/** The bill of a finished job. */
function billOf(video: VideoRecord, cost = 0, status: UsageStatus = 'completed'): JobBill {
  const { call: id, organization, requestId, model } = video;
  const tokens = { inputTokens: 3, outputTokens: 4 };
  const endpoint = 'POST /v1/videos/extensions';
  const record = {
    id,
    organization,
    requestId,
    model,
    endpoint,
    status,
    createdAt: NOW + 9,
    ...tokens,
  } as const;
  return { record, cost };
}

/** Contract of the video store. `open` returns an empty store. */
export function videoStoreCases(open: () => Promise<VideoStores>): void {
  async function storedVideo({ videos }: VideoStores, overrides: Partial<VideoRecord> = {}, reserved = 0) {
    const video = videoRecord(overrides);
    expect(await videos.create(video, reserved, ROOM)).toEqual({ video });
    return video;
  }

  /** Stores a job and ends it. */
  async function endedVideo(stores: VideoStores, end: VideoOutcome, overrides: Partial<VideoRecord> = {}) {
    const video = await storedVideo(stores, overrides);
    await stores.videos.claim(video.id, 'r1', NOW + 1);
    expect(await stores.videos.finish(video.id, 'r1', end, billOf(video))).toBe(true);
    return video;
  }

  const funded = async (amount: number) => {
    const stores = await open();
    await stores.credits.grant('a', amount, NOW);
    return stores;
  };

  describe('a new video', () => {
    test('is read with all its fields', async () => {
      const stores = await open();
      const { id: source } = await endedVideo(stores, COMPLETED);
      const odd = {
        prompt: 'Grüße, 你好 👋 \0 "\\"',
        audio: false,
        source,
        clip: clipFacts({ audio: undefined }),
      };
      for (const overrides of [{}, odd]) {
        const video = await storedVideo(stores, overrides);
        expect(await stores.videos.get('a', video.id)).toEqual(video);
      }
    });

    test('is stored together with its reservation, or not at all', async () => {
      const stores = await funded(100);
      await storedVideo(stores, {}, 70);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 30, reserved: 70 });
      const rejected = videoRecord();
      expect(await stores.videos.create(rejected, 31, ROOM)).toEqual({ available: 30 });
      expect(await stores.videos.get('a', rejected.id)).toBeUndefined();
      expect(await stores.videos.create(videoRecord({ organization: 'b' }), 1, ROOM)).toEqual({
        available: 0,
      });
      expect(await stores.credits.balance('a')).toMatchObject({ available: 30, reserved: 70 });
    });

    test('is created once if the credits suffice for one of several concurrent requests', async () => {
      const stores = await funded(100);
      const results = await Promise.all(
        Array.from({ length: 10 }, () => stores.videos.create(videoRecord(), 60, ROOM)),
      );
      expect(results.filter((each) => 'video' in each)).toHaveLength(1);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 40, reserved: 60 });
    });

    test('is rejected beyond the limit of open videos, also for concurrent requests', async () => {
      const { videos, ...stores } = await open();
      const room = { ...ROOM, maxOpen: 4 };
      await endedVideo({ videos, ...stores }, COMPLETED);
      await storedVideo({ videos, ...stores }, { organization: 'b' });
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => videos.create(videoRecord(), 0, room)),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
      const refusal = {
        kind: 'rate_limited',
        code: 'rate_limit_exceeded',
        retryAfterS: expect.any(Number),
        message: `Your organization has 4 of at most 4 unfinished video jobs. Its videos use 4700 of at most ${room.maxBytes} bytes. Retry when a job has finished.`,
      };
      for (const each of results) if (each.status === 'rejected') expect(each.reason).toMatchObject(refusal);
      await expect(videos.requireCapacity('a', room)).rejects.toMatchObject(refusal);
      await videos.requireCapacity('b', room);
    });

    test('is rejected when clips and segments would exceed the storage limit', async () => {
      const stores = await open();
      const { videos } = stores;
      // 700 bytes of the segment and 1000 of the clip of the open job; the failed job counts nothing.
      await endedVideo(stores, COMPLETED);
      await endedVideo(stores, FAILED);
      await storedVideo(stores);
      const refusal = { kind: 'invalid_request', code: 'storage_limit_exceeded', param: 'video' };
      const create = (maxBytes: number) => videos.create(videoRecord(), 0, { ...ROOM, maxBytes });
      await expect(create(2699)).rejects.toMatchObject(refusal);
      await expect(videos.requireCapacity('a', { ...ROOM, maxBytes: 1700 })).rejects.toMatchObject(refusal);
      await videos.requireCapacity('a', { ...ROOM, maxBytes: 1701 });
      expect(await create(2700)).toHaveProperty('video');
    });

    test.each([
      ['that does not exist', undefined],
      ['of another organization', 'b'],
    ])('cannot continue a video %s', async (_, organization) => {
      const stores = await open();
      const { id: source } = organization
        ? await endedVideo(stores, COMPLETED, { organization })
        : { id: newId('video_') };
      const video = videoRecord({ source });
      await expect(stores.videos.create(video, 0, ROOM)).rejects.toMatchObject({
        kind: 'not_found',
        param: 'video',
      });
      expect(await stores.videos.get('a', video.id)).toBeUndefined();
    });
  });

  describe('an idempotency key', () => {
    const key = (overrides: Partial<IdempotencyKey> = {}) => ({ key: 'k', fingerprint: 'f', ...overrides });

    test('creates one video and one reservation for repeated requests', async () => {
      const stores = await funded(100);
      const room = { ...ROOM, maxOpen: 1 };
      const make = (idempotency = key()) => stores.videos.create(videoRecord(), 40, room, idempotency);
      const all = await Promise.all([make(), make(), make()]);
      const ids = all.map((each) => ('video' in each ? each.video.id : undefined));
      expect(new Set(ids).size).toBe(1);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 60, reserved: 40 });
      await expect(make(key({ fingerprint: 'g' }))).rejects.toMatchObject({ code: 'idempotency_conflict' });
      await expect(make(key({ key: 'other' }))).rejects.toMatchObject({ kind: 'rate_limited' });
      await stores.videos.claim(ids[0] ?? newId('video_'), 'r1', NOW);
      expect(await make()).toMatchObject({ video: { id: ids[0], status: 'in_progress' } });
    });

    test('is unused again after a rejection and after deletion of its video', async () => {
      const stores = await funded(100);
      const { videos } = stores;
      expect(await videos.create(videoRecord(), 101, ROOM, key())).toEqual({ available: 100 });
      const source = newId('video_');
      await expect(videos.create(videoRecord({ source }), 1, ROOM, key())).rejects.toMatchObject({
        kind: 'not_found',
      });
      const video = videoRecord();
      expect(await videos.create(video, 1, ROOM, key({ fingerprint: 'g' }))).toEqual({ video });
      await videos.claim(video.id, 'r1', NOW);
      await videos.finish(video.id, 'r1', FAILED, billOf(video));
      await videos.delete('a', video.id);
      const another = videoRecord();
      expect(await videos.create(another, 1, ROOM, key())).toEqual({ video: another });
    });

    test('belongs to one organization', async () => {
      const { videos } = await open();
      const [mine, theirs] = [videoRecord(), videoRecord({ organization: 'b' })];
      expect(await videos.create(mine, 0, ROOM, key())).toEqual({ video: mine });
      expect(await videos.create(theirs, 0, ROOM, key({ fingerprint: 'g' }))).toEqual({ video: theirs });
    });
  });

  describe('the list', () => {
    test('has the videos of one organization, in both orders, in pages', async () => {
      const stores = await open();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        ids.push((await storedVideo(stores)).id);
        await storedVideo(stores, { organization: 'b' });
      }
      for (const order of ['asc', 'desc'] as const) {
        const inOrder = order === 'asc' ? ids : ids.toReversed();
        const page = async (after?: string, limit = 2) => {
          const found = await stores.videos.list({ organization: 'a', limit, order, after });
          return [found.videos.map(({ id }) => id), found.hasMore];
        };
        expect(await page()).toEqual([inOrder.slice(0, 2), true]);
        expect(await page(inOrder[1])).toEqual([inOrder.slice(2, 4), true]);
        expect(await page(inOrder[3])).toEqual([inOrder.slice(4), false]);
        expect(await page(inOrder[4])).toEqual([[], false]);
        expect(await page(undefined, 0)).toEqual([[], true]);
      }
    });

    test('rejects unknown cursors and videos of other organizations', async () => {
      const stores = await open();
      const { id } = await storedVideo(stores, { organization: 'b' });
      for (const after of [id, 'video_unknown', '', "' OR 1=1 --"]) {
        const page = stores.videos.list({ organization: 'a', limit: 2, order: 'desc', after });
        await expect(page).rejects.toMatchObject({ kind: 'invalid_request', param: 'after' });
      }
    });
  });

  test('organizations do not see each other', async () => {
    const stores = await open();
    const { id } = await endedVideo(stores, COMPLETED, { organization: 'b' });
    expect(await stores.videos.get('a', id)).toBeUndefined();
    expect(await stores.videos.delete('a', id)).toBe(false);
    expect(await stores.videos.list({ organization: 'a', limit: 5, order: 'desc' })).toEqual({
      videos: [],
      hasMore: false,
    });
    expect(await stores.videos.get('b', id)).toMatchObject({ status: 'completed' });
  });

  describe('runners', () => {
    test('can take over a job; the previous runner can no longer write', async () => {
      const stores = await funded(100);
      const { videos } = stores;
      const video = await storedVideo(stores, {}, 50);
      const { id } = video;
      expect(await videos.claim(id, 'r1', NOW + 3)).toEqual({
        ...video,
        status: 'in_progress',
        runner: 'r1',
        startedAt: NOW + 3,
      });
      expect(await videos.saveEngineState(id, 'r1', 'job 7')).toBe(true);
      const taken = await videos.claim(id, 'r2', NOW + 8);
      expect(taken).toMatchObject({ runner: 'r2', startedAt: NOW + 3, savedState: 'job 7' });
      expect(await videos.saveEngineState(id, 'r1', 'job 8')).toBe(false);
      for (const end of [COMPLETED, FAILED]) {
        expect(await videos.finish(id, 'r1', end, billOf(video, 20))).toBe(false);
      }
      expect(await videos.get('a', id)).toEqual(taken);
      expect(await stores.usage.list({ organization: 'a', limit: 5 })).toMatchObject({ records: [] });
      expect(await stores.credits.balance('a')).toMatchObject({ available: 50, reserved: 50 });
      expect(await videos.finish(id, 'r2', COMPLETED, billOf(video, 20))).toBe(true);
    });

    test('that claim concurrently: the last claim wins', async () => {
      const stores = await open();
      const { id } = await storedVideo(stores);
      const runners = Array.from({ length: 20 }, (_, at) => `r${at}`);
      await Promise.all(runners.map((runner) => stores.videos.claim(id, runner, NOW)));
      const saved = await Promise.all(
        runners.map((runner) => stores.videos.saveEngineState(id, runner, 'x')),
      );
      expect(saved.filter(Boolean)).toHaveLength(1);
    });

    test('cannot claim ended or unknown jobs', async () => {
      const stores = await open();
      for (const end of [COMPLETED, FAILED]) {
        const { id } = await endedVideo(stores, end);
        expect(await stores.videos.claim(id, 'r2', NOW)).toBeUndefined();
      }
      expect(await stores.videos.claim(newId('video_'), 'r2', NOW)).toBeUndefined();
    });
  });

  describe('the end', () => {
    test('of a completed job stores its result and one row, and releases the unused reservation', async () => {
      const stores = await funded(100);
      const video = await storedVideo(stores, {}, 50);
      await stores.videos.claim(video.id, 'r1', NOW + 1);
      const bill = billOf(video, 30);
      expect(await stores.videos.finish(video.id, 'r1', COMPLETED, bill)).toBe(true);
      expect(await stores.videos.get('a', video.id)).toEqual({
        ...video,
        status: 'completed',
        runner: 'r1',
        startedAt: NOW + 1,
        completedAt: NOW + 9,
        result: RESULT,
      });
      expect((await stores.usage.list({ organization: 'a', limit: 5 })).records).toEqual([bill.record]);
      expect(await stores.usage.days({ organization: 'a', from: 0, to: 99_999 })).toMatchObject([
        { requests: 1, charged: 30 },
      ]);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 70, reserved: 0, revenue: 30 });
      // A repetition changes nothing.
      expect(await stores.videos.finish(video.id, 'r1', COMPLETED, bill)).toBe(false);
      expect(await stores.videos.finish(video.id, 'r1', FAILED, bill)).toBe(false);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 70, revenue: 30 });
    });

    test('of a failed job stores its error and a row, and charges nothing', async () => {
      const stores = await funded(100);
      const video = await storedVideo(stores, {}, 50);
      await stores.videos.claim(video.id, 'r1', NOW + 1);
      const bill = billOf(video, 0, 'failed');
      expect(await stores.videos.finish(video.id, 'r1', FAILED, bill)).toBe(true);
      const { error } = FAILED as { error: object };
      expect(await stores.videos.get('a', video.id)).toMatchObject({ status: 'failed', error });
      expect((await stores.usage.list({ organization: 'a', limit: 5 })).records).toEqual([bill.record]);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 100, reserved: 0, revenue: 0 });
    });

    test('charges costs above the reservation from the available credits, down to zero', async () => {
      const stores = await funded(100);
      const [first, second] = [await storedVideo(stores, {}, 40), await storedVideo(stores, {}, 40)];
      for (const video of [first, second]) {
        await stores.videos.claim(video.id, 'r1', NOW);
        expect(await stores.videos.finish(video.id, 'r1', COMPLETED, billOf(video, 55))).toBe(true);
      }
      expect(await stores.credits.balance('a')).toMatchObject({ available: 0, reserved: 0, revenue: 100 });
    });
  });

  describe('deleting', () => {
    test('removes an ended job', async () => {
      const stores = await open();
      for (const end of [COMPLETED, FAILED]) {
        const { id } = await endedVideo(stores, end);
        expect(await stores.videos.delete('a', id)).toBe(true);
        expect(await stores.videos.get('a', id)).toBeUndefined();
        expect(await stores.videos.delete('a', id)).toBe(false);
      }
    });

    test('is rejected while another job continues the video, also concurrently with its creation', async () => {
      const stores = await open();
      const { videos } = stores;
      const { id: source } = await endedVideo(stores, COMPLETED);
      const video = await storedVideo(stores, { source });
      const refusal = { kind: 'conflict', code: 'video_in_use' };
      await expect(videos.delete('a', source)).rejects.toMatchObject(refusal);
      await videos.claim(video.id, 'r1', NOW);
      await expect(videos.delete('a', source)).rejects.toMatchObject(refusal);
      await videos.finish(video.id, 'r1', FAILED, billOf(video));
      expect(await videos.delete('a', source)).toBe(true);

      for (let round = 0; round < 20; round += 1) {
        const { id } = await endedVideo(stores, COMPLETED);
        const [created, deleted] = await Promise.allSettled([
          videos.create(videoRecord({ source: id }), 0, ROOM),
          videos.delete('a', id),
        ]);
        expect([created.status, deleted.status].sort()).toEqual(['fulfilled', 'rejected']);
      }
    });
  });

  test('open jobs are listed oldest first, in pages', async () => {
    const stores = await open();
    const first = await storedVideo(stores);
    const gone = await endedVideo(stores, COMPLETED);
    const second = await storedVideo(stores, { organization: 'b' });
    await stores.videos.claim(second.id, 'r1', NOW);
    expect(await stores.videos.listOpen(5)).toEqual([first.id, second.id]);
    expect(await stores.videos.listOpen(1)).toEqual([first.id]);
    // The last job of a page may have ended before the next page is requested.
    expect(await stores.videos.listOpen(5, gone.id)).toEqual([second.id]);
    expect(await stores.videos.listOpen(5, second.id)).toEqual([]);
  });

  test('states are returned for existing ids', async () => {
    const stores = await open();
    const [queued, completed] = [
      await storedVideo(stores),
      await endedVideo(stores, COMPLETED, { organization: 'b' }),
    ];
    const states = await stores.videos.listStates([queued.id, completed.id, newId('video_')]);
    expect(new Set(states)).toEqual(
      new Set([
        { id: queued.id, status: 'queued', runner: undefined },
        { id: completed.id, status: 'completed', runner: 'r1' },
      ]),
    );
    expect(await stores.videos.listStates([])).toEqual([]);
  });

  /** Events that a store handles. */
  type StoreEvent = Exclude<Event, { kind: 'retryable_error' | 'stopped' }>;
  const event = fc.constantFrom<StoreEvent>(
    { kind: 'claimed', late: false },
    { kind: 'generated' },
    { kind: 'rejected' },
    { kind: 'delete_requested' },
  );

  /** Applies an event of the state machine to the store. Returns whether it changed the job. */
  async function applyEvent(
    { videos }: VideoStores,
    video: VideoRecord,
    { kind }: StoreEvent,
  ): Promise<boolean> {
    switch (kind) {
      case 'claimed':
        return (await videos.claim(video.id, 'r1', NOW)) !== undefined;
      case 'generated':
        return videos.finish(video.id, 'r1', COMPLETED, billOf(video));
      case 'rejected':
        return videos.finish(video.id, 'r1', FAILED, billOf(video));
      case 'delete_requested':
        return videos.delete('a', video.id).catch(() => false);
    }
  }

  test('changes state as the state machine does, for any order of events', async () => {
    const stores = await open();
    const seen = new Set<VideoStatus>();
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 8 }), async (events) => {
        const video = await storedVideo(stores);
        let status: VideoStatus = 'queued';
        for (const each of events) {
          const { status: after, effect } = next(status, each);
          const refuses =
            effect?.kind === 'clean_up' || (effect?.kind === 'respond' && effect.status === 409);
          const does = effect !== undefined && !refuses;
          expect(await applyEvent(stores, video, each), `${each.kind} of ${status}`).toBe(does);
          status = after;
          seen.add(status);
          if (each.kind === 'delete_requested' && does) {
            expect(await stores.videos.get('a', video.id)).toBeUndefined();
            return;
          }
          expect((await stores.videos.get('a', video.id))?.status).toBe(status);
        }
      }),
      { seed: 7, numRuns: 100 },
    );
    for (const status of [...FINAL_VIDEO_STATUSES, ...OPEN_VIDEO_STATUSES]) expect(seen).toContain(status);
  });
}
