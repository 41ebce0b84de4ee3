import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import type { VideoQuota } from '../../src/contract/stores/video-store.ts';
import { prepareUploadFolder } from '../../src/http/request/multipart.ts';
import { JobReconciler } from '../../src/kit/jobs/job-reconciler.ts';
import { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { ClipQueue } from './clips/clip-queue.ts';
import { CLIP_BYTES, limitsOf } from './clips/clip-rules.ts';
import { windowOf } from './clips/model-windows.ts';
import { ProgressEstimator } from './job/progress-estimator.ts';
import { startVideoSweep } from './job/sweep.ts';
import { videoJob } from './job/video-job.ts';
import { videoMetrics } from './metrics.ts';
import { videoRoutes } from './routes.ts';
import { VideoService } from './service.ts';

export interface VideoOptions {
  /** Maximum number of concurrent requests per organization that upload clips. */
  readonly requestsPerOrganization: number;
  /** Maximum number of open jobs and stored bytes per organization. */
  readonly quota: VideoQuota;
  /** Maximum number of videos that are generated concurrently in this process. */
  readonly maxConcurrentJobs: number;
  /** Folder for clips and segments while they are processed. */
  readonly folder: string;
}

const NEEDS = ['video', 'clips', 'videos', 'blobs', 'jobs', 'jobCalls', 'clock', 'log', 'metrics'] as const;

/** Video extension: /v1/videos and its jobs. */
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
      const progress = new ProgressEstimator();
      const clips = new ClipQueue(slots.clips);
      const downloads = new GuardedFetch({ maxBytes: CLIP_BYTES });
      const videos = new VideoService({ ...slots, ...options, clips, downloads });
      const job = videoJob({ ...slots, ...options, clips, progress, metrics: videoMetrics(slots.metrics) });
      const runner = slots.jobs.startRunner(job);
      const reconciler = new JobReconciler({
        ...slots,
        kind: 'video',
        what: 'open videos',
        listOpen: slots.videos.listOpen,
      });
      slots.metrics.gauge(
        'videos_open',
        'Unfinished videos of all machines, as of the last check.',
        () => reconciler.open,
      );
      const sweep = startVideoSweep({ ...slots, folder });
      const nowMs = () => slots.clock.now();
      return {
        provides: {},
        routes: new Elysia({ name: 'video-plugin' }).use(
          videoRoutes({ videos, progress, nowMs, folder, clipBytes: CLIP_BYTES }),
        ),
        limits: new Map(slots.video.ids.map((id) => [id, limitsOf(windowOf(id))])),
        // The plugin is ready without models: jobs wait for unavailable models.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), videos.drain(until)]);
        },
        async close() {
          videos.stop();
          // Generation was aborted when the drain started; the grace period was for storing finished segments.
          job.abandon();
          await Promise.all([runner.stop(), reconciler.close(), sweep.close()]);
        },
      };
    },
  };
}
