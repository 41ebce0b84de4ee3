import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { ConnectionRegistry } from './connection-registry.ts';
import { REALTIME_ROUTES } from './routes.ts';
import { sessionRules } from './session-rules.ts';
import { realtimeSettings } from './settings.ts';

/** Transcription, translation and speech synthesis over WebSocket: /v1/realtime. */
export const realtime = definePlugin({
  name: 'realtime',
  needs: [
    'tts',
    'stt',
    'text',
    'conversations',
    'vad',
    'turnEnd',
    'fastSpeech',
    'voices',
    'lexicons',
    'blobs',
    'calls',
    'clock',
    'log',
    'metrics',
    'tracer',
  ],
  routes: REALTIME_ROUTES,
  settings: realtimeSettings,
  tags: [{ name: 'realtime', description: 'Bidirectional audio over one WebSocket: [events](docs/sockets)' }],
  setup({ services, settings: { limits }, lifecycle }) {
    const { stt, tts, vad } = services;
    const connections = lifecycle.drains(
      new ConnectionRegistry({
        ...services,
        voices: new StoredVoices(services),
        perOrganization: limits.realtimeConnectionsPerOrganization,
        rules: sessionRules(services, limits.speechCharacters),
      }),
    );
    connections.prepareRequired();
    return {
      services: { connections },
      ready: () =>
        readyWithAnyModel(
          [...modelReports(stt), ...modelReports(tts)],
          [{ name: 'voice activity detection', report: vad.ready() }],
        ),
    };
  },
});
