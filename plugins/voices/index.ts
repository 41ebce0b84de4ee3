import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { prepareUploadFolder, type UploadSettings } from '../../src/http/request/multipart.ts';
import { clipSweep } from './clips/cleanup.ts';
import { Enrollments } from './enrollment.ts';
import { voiceWatch } from './job/reconciler.ts';
import { voiceJob } from './job/voice-job.ts';
import { voiceMetrics } from './metrics.ts';
import { voiceRoutes } from './routes.ts';
import { Voices } from './service.ts';

export interface VoicesOptions {
  /** Largest clip as it is uploaded, and where uploads lie while they are worked on. */
  readonly uploads: UploadSettings;
  /** Enrollments of one organization that may be open at once. */
  readonly requestsPerOrganization: number;
  /** Stored voices that one organization may have. */
  readonly voicesPerOrganization: number;
  /** Seconds of work that make a voice better after it was stored; 0 is none. */
  readonly fitSeconds: number;
}

const NEEDS = [
  ...(['voices', 'blobs', 'jobs', 'audioFiles', 'vad', 'speakers', 'voiceFitter', 'tts'] as const),
  ...(['calls', 'clock', 'log', 'metrics'] as const),
] as const;

/** Stored voices: /v1/audio/voices, and the work that makes them better. */
export function voicesPlugin(options: VoicesOptions): FeaturePlugin<(typeof NEEDS)[number]> {
  return {
    name: 'voices',
    needs: NEEDS,
    offers: [],
    paths: ['/v1/audio/voices', '/v1/audio/voices/:voice_id', '/v1/audio/voices/:voice_id/audio'],
    async setup(slots) {
      const { uploads, requestsPerOrganization, voicesPerOrganization, fitSeconds } = options;
      await prepareUploadFolder(uploads.folder, slots.clock);
      const metrics = voiceMetrics(slots.metrics);
      const enrollments = new Enrollments({
        ...{ ...slots, metrics, requestsPerOrganization, voicesPerOrganization },
        improves: fitSeconds > 0,
      });
      const runner = slots.jobs.startRunner(voiceJob({ ...slots, metrics, fitMs: fitSeconds * 1000 }));
      const watch = voiceWatch(slots);
      const sweep = clipSweep({ ...slots, uploads: uploads.folder });
      return {
        provides: {},
        routes: new Elysia({ name: 'voices-plugin' }).use(
          voiceRoutes(new Voices(slots), enrollments, uploads),
        ),
        // Jobs wait for unavailable models; requests to this plugin need none.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), enrollments.drain(until)]);
        },
        async close() {
          enrollments.stop();
          await Promise.all([runner.stop(), watch.close(), sweep.close()]);
        },
      };
    },
  };
}
