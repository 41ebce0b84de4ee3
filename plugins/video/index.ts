import { join } from 'node:path';
import { prepareUploadFolder } from '../../src/http/request/multipart.ts';
import { JobReconciler } from '../../src/kit/jobs/job-reconciler.ts';
import { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { ClipQueue } from './clips/clip-queue.ts';
import { CLIP_BYTES, limitsOf } from './clips/clip-rules.ts';
import { windowOf } from './clips/model-windows.ts';
import { ProgressEstimator } from './job/progress-estimator.ts';
import { startVideoSweep } from './job/sweep.ts';
import { videoJob } from './job/video-job.ts';
import { openVideosGauge, videoMetrics } from './metrics.ts';
import { videoRoutes } from './routes.ts';
import { ENDPOINT, VideoService } from './service.ts';
import { videoSettings } from './settings.ts';

const folderIn = (dataDir: string) => join(dataDir, 'videos');

/** Video extension: /v1/videos and its jobs. Jobs wait for unavailable models. */
export const video = definePlugin({
  name: 'video',
  needs: ['video', 'clips', 'videos', 'blobs', 'jobs', 'jobCalls', 'clock', 'log', 'metrics'],
  routes: ({ dataDir }) => videoRoutes({ folder: folderIn(dataDir), clipBytes: CLIP_BYTES }),
  settings: videoSettings,
  usage: [ENDPOINT],
  tags: [{ name: 'video', description: 'Video extension' }],
  async setup({ services, settings, lifecycle }) {
    const { jobs, clock, log, videos: store } = services;
    const { limits, video: concurrency } = settings;
    const folder = folderIn(settings.dataDir);
    await prepareUploadFolder(folder, clock);
    const progress = new ProgressEstimator();
    const clips = new ClipQueue(services.clips);
    const downloads = new GuardedFetch({ maxBytes: CLIP_BYTES });
    const quota = { maxOpen: limits.videosPerOrganization, maxBytes: limits.storedVideoBytesPerOrganization };
    const requestsPerOrganization = limits.videoRequestsPerOrganization;
    const videos = new VideoService({ ...services, quota, requestsPerOrganization, clips, downloads });
    lifecycle.drains(videos.open);
    const metrics = videoMetrics(services.metrics);
    lifecycle.runs(jobs, videoJob({ ...services, ...concurrency, folder, clips, progress, metrics }));
    const listOpen = store.listOpen;
    const reconciler = new JobReconciler({ kind: 'video', what: 'open videos', listOpen, jobs, log });
    openVideosGauge(services.metrics, lifecycle.closes(reconciler));
    lifecycle.closes(startVideoSweep({ ...services, folder }));
    return {
      services: { videos, progress, nowMs: () => clock.now() },
      limits: new Map(services.video.ids.map((id) => [id, limitsOf(windowOf(id))])),
    };
  },
});
