import type { FeaturePlugin, Slots } from '../../src/contract/plugin.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { hasNamedVoice, StoredVoices } from '../../src/speak/stored-voices.ts';
import { ConnectionRegistry } from './connection-registry.ts';
import { REALTIME_ROUTES, type RealtimeServices } from './routes.ts';
import { transcriptionModelId, transcriptionNames } from './session/transcription-models.ts';

export interface RealtimeOptions {
  /** Maximum number of concurrent connections per organization. */
  readonly connectionsPerOrganization: number;
  /** Maximum length of a synthesized text in code points, as for `POST /v1/audio/speech`. */
  readonly maxCharacters: number;
}

type Needs =
  | 'text'
  | 'conversations'
  | 'tts'
  | 'stt'
  | 'vad'
  | 'turnEnd'
  | 'fastSpeech'
  | 'voices'
  | 'lexicons'
  | 'blobs'
  | 'calls'
  | 'clock'
  | 'log'
  | 'metrics'
  | 'tracer';

/** Transcription, translation and speech synthesis over WebSocket: /v1/realtime. */
export function realtimePlugin(options: RealtimeOptions): FeaturePlugin<Needs, never, RealtimeServices> {
  return {
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
    offers: [],
    routes: REALTIME_ROUTES,
    async setup(slots) {
      const connections = new ConnectionRegistry({
        ...slots,
        voices: new StoredVoices(slots),
        perOrganization: options.connectionsPerOrganization,
        rules: sessionRules(slots, options),
      });
      return {
        provides: {},
        services: { connections },
        ready: () =>
          readyWithAnyModel(
            [...modelReports(slots.stt), ...modelReports(slots.tts)],
            [{ name: 'voice activity detection', report: slots.vad.ready() }],
          ),
        drain: (until) => connections.drain(until),
        close: () => connections.close(),
      };
    },
  };
}

function sessionRules({ stt, tts }: Pick<Slots, 'stt' | 'tts'>, { maxCharacters }: RealtimeOptions) {
  return {
    sttModels: transcriptionNames(stt),
    ttsModels: tts.ids,
    defaultSttModel: 'svc-stt',
    defaultTtsModel: 'svc-tts',
    languagesOf: (name: string) => stt.get(transcriptionModelId(name, stt))?.languages,
    hasVoice: (model: string, name: string) => hasNamedVoice(tts.get(model), name),
    spokenLanguages(model: string) {
      const engine = tts.get(model);
      if (engine?.languages === undefined) return undefined;
      return { languages: engine.languages, languageOf: (tag: string) => engine.languageOf?.(tag) };
    },
    maxTextCharacters: maxCharacters,
  };
}
