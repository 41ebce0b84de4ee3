import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { prepareUploadFolder, type UploadSettings } from '../../src/http/request/multipart.ts';
import { startClipCleanup } from './clips/cleanup.ts';
import { EnrollmentService } from './enrollment.ts';
import { startVoiceReconciler } from './job/reconciler.ts';
import { voiceJob } from './job/voice-job.ts';
import { voiceMetrics } from './metrics.ts';
import { voiceRoutes } from './routes.ts';
import { VoiceService } from './service.ts';

export interface VoicesOptions {
  /** Maximum size of an uploaded clip, and the folder for uploads. */
  readonly uploads: UploadSettings;
  /** Maximum number of concurrent enrollments per organization. */
  readonly requestsPerOrganization: number;
  /** Maximum number of stored voices per organization. */
  readonly voicesPerOrganization: number;
  /** Time budget for improving a voice after it is stored, in seconds; 0 turns improvement off. */
  readonly fitSeconds: number;
}

const NEEDS = [
  ...(['voices', 'blobs', 'jobs', 'audioFiles', 'vad', 'speakers', 'voiceFitter', 'tts'] as const),
  ...(['calls', 'clock', 'log', 'metrics'] as const),
] as const;

/** Stored voices: /v1/audio/voices and the job that improves them. */
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
      const enrollments = new EnrollmentService({
        ...{ ...slots, metrics, requestsPerOrganization, voicesPerOrganization },
        improves: fitSeconds > 0,
      });
      const runner = slots.jobs.startRunner(voiceJob({ ...slots, metrics, fitMs: fitSeconds * 1000 }));
      const reconciler = startVoiceReconciler(slots);
      const cleanup = startClipCleanup({ ...slots, uploads: uploads.folder });
      return {
        provides: {},
        routes: new Elysia({ name: 'voices-plugin' }).use(
          voiceRoutes(new VoiceService(slots), enrollments, uploads),
        ),
        // The plugin is ready without models: jobs wait for unavailable models.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), enrollments.drain(until)]);
        },
        async close() {
          enrollments.stop();
          await Promise.all([runner.stop(), reconciler.close(), cleanup.close()]);
        },
      };
    },
  };
}
