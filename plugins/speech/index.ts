import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { prepareUploadFolder, type UploadSettings } from '../../src/http/request/multipart.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { lexiconRoutes } from './lexicon/routes.ts';
import { normalizeRoutes } from './synthesis/normalize-routes.ts';
import { speechRoutes } from './synthesis/routes.ts';
import { transcriptionRoutes } from './transcription/routes.ts';
import { Transcriber } from './transcription/service.ts';

export interface SpeechOptions {
  /** Maximum length of `input`, in Unicode code points; at most 5000 (spec 8). */
  readonly maxCharacters: number;
  /** Maximum number of concurrent requests per organization; by default half of the slots of the worker pool. */
  readonly requestsPerOrganization: { readonly speech: number; readonly transcription: number };
  /** Maximum size of a file to transcribe, and the folder for uploads. */
  readonly uploads: UploadSettings;
}

const NEEDS = [
  'tts',
  'stt',
  'audioFiles',
  'audioEncoder',
  'voices',
  'lexicons',
  'blobs',
  'calls',
  'clock',
  'log',
] as const;

/** Speech synthesis and transcription: `/v1/audio/speech`, `normalize`, `lexicon`, `transcriptions` and `translations`, and `/dev/captioned_speech`. */
export function speechPlugin({
  maxCharacters,
  requestsPerOrganization: limits,
  uploads,
}: SpeechOptions): FeaturePlugin<(typeof NEEDS)[number]> {
  return {
    name: 'speech',
    needs: NEEDS,
    offers: [],
    paths: [
      '/v1/audio/speech',
      '/v1/audio/normalize',
      '/v1/audio/lexicon',
      '/dev/captioned_speech',
      '/v1/audio/transcriptions',
      '/v1/audio/translations',
    ],
    async setup(slots) {
      await prepareUploadFolder(uploads.folder, slots.clock);
      const speechRequests = new SpeechRequests({
        ...slots,
        endpoint: '/v1/audio/speech',
        voices: new StoredVoices(slots),
        requestsPerOrganization: limits.speech,
      });
      const transcriber = new Transcriber({ ...slots, requestsPerOrganization: limits.transcription });
      return {
        provides: {},
        routes: new Elysia({ name: 'speech-plugin' })
          .use(
            speechRoutes({
              tts: slots.tts,
              log: slots.log,
              encoder: slots.audioEncoder,
              requests: speechRequests,
              maxCharacters,
            }),
          )
          .use(normalizeRoutes(maxCharacters, slots.clock))
          .use(lexiconRoutes(slots.lexicons))
          .use(transcriptionRoutes(transcriber, uploads)),
        ready: () => readyWithAnyModel([...modelReports(slots.tts), ...modelReports(slots.stt)]),
        async drain(until) {
          await Promise.all([speechRequests.drain(until), transcriber.drain(until)]);
        },
        async close() {
          speechRequests.stop();
          transcriber.stop();
        },
      };
    },
  };
}
