import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { partnerSettings } from './settings.ts';
import { PhoneCalls } from './transcriber/phone-calls.ts';
import { TRANSCRIBER_ROUTES } from './transcriber/routes.ts';
import { voiceRoutes } from './voice/routes.ts';

/** Endpoints for voice-agent platforms: POST /v1/voices/partner and WS /v1/transcribers/partner. */
export const partner = definePlugin({
  name: 'partner',
  needs: ['tts', 'stt', 'vad', 'voices', 'lexicons', 'blobs', 'calls', 'clock', 'log', 'metrics', 'tracer'],
  routes: ({ limits }) => [...voiceRoutes(limits.speechCharacters), ...TRANSCRIBER_ROUTES],
  settings: partnerSettings,
  usage: ['POST /v1/voices/partner', 'POST /v1/transcribers/partner'],
  tags: [{ name: 'partner', description: 'Endpoints for voice-agent platforms: [setup](docs/partner)' }],
  setup({ services, settings: { limits, partner: turns }, lifecycle }) {
    const { stt, tts, vad } = services;
    const calls = lifecycle.drains(
      new PhoneCalls({ ...services, ...turns, perOrganization: limits.partnerCallsPerOrganization }),
    );
    const voiceRequests = new SpeechRequests({
      ...services,
      endpoint: 'POST /v1/voices/partner',
      voices: new StoredVoices(services),
      requestsPerOrganization: limits.speechRequestsPerOrganization,
    });
    lifecycle.drains(voiceRequests.open);
    return {
      services: { voiceRequests, phoneCalls: calls },
      ready: () =>
        readyWithAnyModel(
          [...modelReports(stt), ...modelReports(tts)],
          [{ name: 'voice activity detection', report: vad.ready() }],
        ),
    };
  },
});
