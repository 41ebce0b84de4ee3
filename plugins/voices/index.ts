import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { prepareUploadFolder, type UploadSettings } from '../../src/http/request/multipart.ts';
import { startClipCleanup } from './clips/cleanup.ts';
import { EnrollmentService } from './enrollment.ts';
import { voiceMetrics } from './metrics.ts';
import { startReadaptation } from './readaptation.ts';
import { type VoiceRouteServices, voiceRoutes } from './routes.ts';
import { VoiceService } from './service.ts';

export interface VoicesOptions {
  /** Maximum size of an uploaded clip, and the folder for uploads. */
  readonly uploads: UploadSettings;
  /** Maximum number of concurrent enrollments per organization. */
  readonly requestsPerOrganization: number;
  /** Maximum number of stored voices per organization. */
  readonly voicesPerOrganization: number;
}

const NEEDS = [
  'voices',
  'blobs',
  'audioFiles',
  'vad',
  'speakers',
  'voiceFitter',
  'tts',
  'calls',
  'clock',
  'log',
  'metrics',
] as const;

/** Stored voices: /v1/audio/voices. */
export function voicesPlugin(
  options: VoicesOptions,
): FeaturePlugin<(typeof NEEDS)[number], never, VoiceRouteServices> {
  return {
    name: 'voices',
    needs: NEEDS,
    offers: [],
    routes: voiceRoutes(options.uploads),
    async setup(slots) {
      const { uploads, requestsPerOrganization, voicesPerOrganization } = options;
      await prepareUploadFolder(uploads.folder, slots.clock);
      const metrics = voiceMetrics(slots.metrics);
      const enrollments = new EnrollmentService({
        ...slots,
        metrics,
        requestsPerOrganization,
        voicesPerOrganization,
      });
      const readaptation = startReadaptation(slots);
      const cleanup = startClipCleanup({ ...slots, uploads: uploads.folder });
      return {
        provides: {},
        services: { voices: new VoiceService(slots), enrollments },
        ready: () => ({ ready: true }),
        drain: (until) => enrollments.drain(until),
        async close() {
          enrollments.stop();
          await Promise.all([readaptation.close(), cleanup.close()]);
        },
      };
    },
  };
}
