import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { PhoneCalls } from './transcriber/phone-calls.ts';
import { TRANSCRIBER_ROUTES, type TranscriberServices } from './transcriber/routes.ts';
import { type VoiceServices, voiceRoutes } from './voice/routes.ts';

export interface PartnerOptions {
  /** Maximum length of a synthesized text, in Unicode code points; as for `POST /v1/audio/speech`. */
  readonly maxCharacters: number;
  /** Concurrency limits per organization. */
  readonly perOrganization: { readonly calls: number; readonly voiceRequests: number };
  /** Silence that ends a customer turn, in ms. */
  readonly silenceMs: number;
  /** New audio after which an open turn is transcribed again, in ms; 0 turns partials off. */
  readonly partialMs: number;
}

type Needs =
  | 'tts'
  | 'stt'
  | 'vad'
  | 'voices'
  | 'lexicons'
  | 'blobs'
  | 'calls'
  | 'clock'
  | 'log'
  | 'metrics'
  | 'tracer';

/** Endpoints for voice-agent platforms: POST /v1/voices/partner and WS /v1/transcribers/partner. */
export function partnerPlugin(
  options: PartnerOptions,
): FeaturePlugin<Needs, never, VoiceServices & TranscriberServices> {
  const { maxCharacters, perOrganization, silenceMs, partialMs } = options;
  return {
    name: 'partner',
    needs: ['tts', 'stt', 'vad', 'voices', 'lexicons', 'blobs', 'calls', 'clock', 'log', 'metrics', 'tracer'],
    offers: [],
    routes: [...voiceRoutes(maxCharacters), ...TRANSCRIBER_ROUTES],
    async setup(slots) {
      const calls = new PhoneCalls({
        ...slots,
        silenceMs,
        partialMs,
        perOrganization: perOrganization.calls,
      });
      const voiceRequests = new SpeechRequests({
        ...slots,
        endpoint: 'POST /v1/voices/partner',
        voices: new StoredVoices(slots),
        requestsPerOrganization: perOrganization.voiceRequests,
      });
      return {
        provides: {},
        services: { voiceRequests, phoneCalls: calls },
        ready: () =>
          readyWithAnyModel(
            [...modelReports(slots.stt), ...modelReports(slots.tts)],
            [{ name: 'voice activity detection', report: slots.vad.ready() }],
          ),
        async drain(until) {
          await Promise.all([calls.drain(until), voiceRequests.drain(until)]);
        },
        async close() {
          voiceRequests.stop();
          await calls.close();
        },
      };
    },
  };
}
