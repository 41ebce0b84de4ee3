import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ClipQueue } from '../../plugins/video/clips/clip-queue.ts';
import { ProgressEstimator } from '../../plugins/video/job/progress-estimator.ts';
import { videoJob } from '../../plugins/video/job/video-job.ts';
import { videoMetrics } from '../../plugins/video/metrics.ts';
import { videoRoutes } from '../../plugins/video/routes.ts';
import { VideoService, type VideoServiceDeps } from '../../plugins/video/service.ts';
import { openDiskBlobs } from '../../src/blobs/disk-blobs.ts';
import type { Price } from '../../src/contract/accounts/prices.ts';
import { bind } from '../../src/http/route.ts';
import { type ConnectionServer, setServerOf } from '../../src/http/transport/connection-server.ts';
import { createMetrics } from '../../src/metrics/registry.ts';
import { GuardedFetch, type GuardedFetchSettings } from '../../src/outbound/guarded-fetch.ts';
import { callJournal } from '../../src/records/accounts/call-journal.ts';
import { creditStore } from '../../src/records/accounts/credit-store.ts';
import { videoStore } from '../../src/records/stores/video-store.ts';
import { CallLedger } from '../../src/usage/call-ledger.ts';
import { JobAccounts } from '../../src/usage/job-accounts.ts';
import { priceList } from '../../src/usage/prices.ts';
import { rowMetrics } from '../../src/usage/row-metrics.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { fakeClip, fakeClips } from '../doubles/fake-clips.ts';
import { FakeVideoEngine } from '../doubles/fake-video-engine.ts';
import type { WireAnswer } from './response-app.ts';
import { tempDir } from './temp-dir.ts';
import { KEY_A, testApp } from './test-app.ts';
import { usageRows } from './usage-rows.ts';

export const EXTENSIONS = '/v1/videos/extensions';
/** Size limit of a clip, in bytes. */
export const CLIP_BYTES = 64 * 1024;

export interface VideoAppOptions
  extends Partial<Pick<VideoServiceDeps, 'requestsPerOrganization' | 'quota' | 'blobs'>> {
  readonly prices?: readonly Price[];
  /** Settings of clip downloads. */
  readonly downloads?: Partial<GuardedFetchSettings>;
  /** Error that the queue throws. */
  readonly queueFailure?: () => Error | undefined;
}

export type VideoEntry = readonly [name: string, value: string | File];

/** Default fields of a request, without a clip. */
export const ASKED: readonly VideoEntry[] = [
  ['model', 'vid-2.0'],
  ['prompt', 'The camera pans on.'],
  ['seconds', '5'],
];

/** The form entry of a clip. */
export const clipPart = (content: string | Uint8Array<ArrayBuffer> = fakeClip()): VideoEntry => [
  'video',
  new File([content], 'clip.mp4'),
];

/** The app with video routes and jobs, blobs on disk, in-memory SQLite and a scripted engine. */
export async function videoApp(options: VideoAppOptions = {}) {
  const [root, clock, log] = [await tempDir(), new ManualClock(), new RecordingLogger()];
  const folder = join(root, 'work');
  await mkdir(folder);
  const records = memoryRecords();
  const metrics = createMetrics(clock);
  onTestFinished(async () => {
    metrics.close();
    await records.close();
  });
  const store = videoStore(records);
  const disk = await openDiskBlobs(join(root, 'blobs'), clock);
  const blobs = options.blobs ?? disk;
  const [engine, clips, progress] = [
    new FakeVideoEngine(),
    new ClipQueue(fakeClips()),
    new ProgressEstimator(),
  ];
  const ids = ['vid-2.0-mini', 'vid-2.0-fast', 'vid-2.0', 'vid-2.5'];
  const video = { ids, get: (id: string) => (ids.includes(id) ? engine : undefined) };
  const findPrice = priceList(options.prices ?? []);
  const ledger = new CallLedger({ journal: callJournal(records), findPrice, instance: 'test', clock, log });
  const jobCalls = new JobAccounts(ledger, rowMetrics(metrics));
  const queued: string[] = [];
  const jobs = {
    async enqueue(_: string, id: string) {
      const failure = options.queueFailure?.();
      if (failure !== undefined) throw failure;
      queued.push(id);
    },
  };
  const parts = { videos: store, video, clips, blobs, jobs, jobCalls, clock, log };
  const videos = new VideoService({
    ...parts,
    downloads: new GuardedFetch({ maxBytes: CLIP_BYTES, ...options.downloads }),
    requestsPerOrganization: options.requestsPerOrganization ?? 100,
    quota: options.quota ?? { maxOpen: 100, maxBytes: Number.MAX_SAFE_INTEGER },
  });
  const job = videoJob({ ...parts, progress, metrics: videoMetrics(metrics), folder, maxConcurrentJobs: 1 });
  const nowMs = () => clock.now();
  const routes = bind(videoRoutes({ folder, clipBytes: CLIP_BYTES }), { videos, progress, nowMs });
  const app = testApp({ routes: [routes] });
  onTestFinished(() => app.close());

  const send = async (path: string, init: RequestInit = {}, key = KEY_A) => {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string>) };
    return (await app.send(path, { ...init, headers })) as WireAnswer;
  };
  /** Posts a form with the given entries in order. */
  const extend = (entries: readonly VideoEntry[], key = KEY_A) => {
    const form = new FormData();
    for (const [name, value] of entries) form.append(name, value);
    return send(EXTENSIONS, { method: 'POST', body: form }, key);
  };
  const never = new AbortController().signal;
  return {
    app,
    clock,
    log,
    records,
    store,
    blobs,
    engine,
    videos,
    job,
    progress,
    metrics,
    folder,
    send,
    extend,
    queued,
    credits: creditStore(records),
    usage: usageRows(records),
    extendJson: (body: unknown, key = KEY_A) =>
      send(
        EXTENSIONS,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
        key,
      ),
    /** Creates a job. Returns the video object of the response. */
    async create(entries: readonly VideoEntry[] = [...ASKED, clipPart()], key = KEY_A) {
      const response = await extend(entries, key);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return await response.json();
    },
    run: (id: string, signal = never) => job.runJob(id, signal),
    /** Paths of all files on disk: blobs and temporary files. */
    async held(): Promise<string[]> {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries.filter((it) => it.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    },
    /** Video ids with a folder on disk, including empty folders. */
    folders: () => readdir(join(root, 'blobs', 'videos')),
    /** Serves the app on a real socket. Returns its origin. */
    listen() {
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        development: false,
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch(request, self) {
          setServerOf(self as ConnectionServer, request);
          return app.app.fetch(request);
        },
      });
      onTestFinished(() => server.stop(true));
      return `http://127.0.0.1:${server.port}`;
    },
  };
}
