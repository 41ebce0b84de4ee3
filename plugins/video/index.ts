import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import type { VideoQuota } from '../../src/contract/stores/video-store.ts';
import { prepareUploadFolder } from '../../src/http/request/multipart.ts';
import { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { CLIP_BYTES, limitsOf } from './clips/clip-rules.ts';
import { ClipTurns } from './clips/clip-turns.ts';
import { windowOf } from './clips/model-windows.ts';
import { Pace } from './job/pace.ts';
import { videoWatch } from './job/reconciler.ts';
import { videoSweep } from './job/sweep.ts';
import { videoJob } from './job/video-job.ts';
import { videoMetrics } from './metrics.ts';
import { videoRoutes } from './routes.ts';
import { Videos } from './service.ts';

export interface VideoOptions {
  /** Requests of one organization that may bring clips at once. */
  readonly requestsPerOrganization: number;
  /** What one organization may have in all. */
  readonly room: VideoQuota;
  /** Videos that are made at once in this process. */
  readonly jobsAtOnce: number;
  /** Where clips and segments lie while they are worked on. */
  readonly folder: string;
}

const NEEDS = [
  ...(['video', 'clips', 'videos', 'blobs', 'jobs', 'jobCalls'] as const),
  ...(['clock', 'log', 'metrics'] as const),
] as const;

/** Video extension: /v1/videos, and the jobs behind it. */
export function videoPlugin(options: VideoOptions): FeaturePlugin<(typeof NEEDS)[number]> {
  return {
    name: 'video',
    needs: NEEDS,
    offers: [],
    paths: [
      '/v1/videos',
      '/v1/videos/extensions',
      '/v1/videos/:id',
      '/v1/videos/:id/content',
      '/v1/videos/edits',
      '/v1/videos/characters',
    ],
    async setup(slots) {
      const { folder } = options;
      await prepareUploadFolder(folder, slots.clock);
      const pace = new Pace();
      const clips = new ClipTurns(slots.clips);
      const downloads = new GuardedFetch({ maxBytes: CLIP_BYTES });
      const videos = new Videos({ ...slots, ...options, clips, downloads });
      const job = videoJob({ ...slots, ...options, clips, pace, metrics: videoMetrics(slots.metrics) });
      const runner = slots.jobs.startRunner(job);
      const watch = videoWatch(slots);
      const sweep = videoSweep({ ...slots, folder });
      const nowMs = () => slots.clock.now();
      return {
        provides: {},
        routes: new Elysia({ name: 'video-plugin' }).use(
          videoRoutes({ videos, pace, nowMs, folder, clipBytes: CLIP_BYTES }),
        ),
        limits: new Map(slots.video.ids.map((id) => [id, limitsOf(windowOf(id))])),
        // Jobs wait for unavailable models; requests to this plugin need none.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), videos.drain(until)]);
        },
        async close() {
          videos.stop();
          // Runs broke off when the grace time began, and are done again; it was for storing what was made.
          job.leave();
          await Promise.all([runner.stop(), watch.close(), sweep.close()]);
        },
      };
    },
  };
}
