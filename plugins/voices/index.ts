import { join } from 'node:path';
import { prepareUploadFolder, type UploadSettings } from '../../src/http/request/multipart.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { startClipCleanup } from './clips/cleanup.ts';
import { EnrollmentService } from './enrollment.ts';
import { voiceMetrics } from './metrics.ts';
import { startReadaptation } from './readaptation.ts';
import { voiceRoutes } from './routes.ts';
import { VoiceService } from './service.ts';
import { voicesSettings } from './settings.ts';

/** Stored voices: /v1/audio/voices. */
export const voices = definePlugin({
  name: 'voices',
  needs: [
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
  ],
  routes: (settings) => voiceRoutes(uploadsOf(settings)),
  settings: voicesSettings,
  async setup({ services, settings, lifecycle }) {
    const { limits } = settings;
    const uploads = uploadsOf(settings);
    await prepareUploadFolder(uploads.folder, services.clock);
    const enrollments = lifecycle.drains(
      new EnrollmentService({
        ...services,
        metrics: voiceMetrics(services.metrics),
        requestsPerOrganization: limits.uploadsPerOrganization,
        voicesPerOrganization: limits.voicesPerOrganization,
      }),
    );
    lifecycle.closes(startReadaptation(services));
    lifecycle.closes(startClipCleanup({ ...services, uploads: uploads.folder }));
    return { services: { voices: new VoiceService(services), enrollments } };
  },
});

/** The folder for uploaded clips, and their maximum size. */
function uploadsOf({
  dataDir,
  limits,
}: {
  readonly dataDir: string;
  readonly limits: { readonly voiceClipBytes: number };
}): UploadSettings {
  return { folder: join(dataDir, 'uploads'), fileBytes: limits.voiceClipBytes };
}
