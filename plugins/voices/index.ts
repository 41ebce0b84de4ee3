import { prepareUploadFolder, uploadFolder } from '../../src/http/request/multipart.ts';
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
  routes: ({ limits, dataDir }) =>
    voiceRoutes({ folder: uploadFolder(dataDir), fileBytes: limits.voiceClipBytes }),
  settings: voicesSettings,
  usage: ['POST /v1/audio/voices'],
  async setup({ services, settings: { limits, dataDir }, lifecycle }) {
    const uploads = uploadFolder(dataDir);
    await prepareUploadFolder(uploads, services.clock);
    const enrollments = new EnrollmentService({
      ...services,
      metrics: voiceMetrics(services.metrics),
      requestsPerOrganization: limits.uploadsPerOrganization,
      voicesPerOrganization: limits.voicesPerOrganization,
    });
    lifecycle.drains(enrollments.open);
    lifecycle.closes(startReadaptation(services));
    lifecycle.closes(startClipCleanup({ ...services, uploads }));
    return { services: { voices: new VoiceService(services), enrollments } };
  },
});
