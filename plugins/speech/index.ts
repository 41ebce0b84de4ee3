import { join } from 'node:path';
import { Elysia } from 'elysia';
import { prepareUploadFolder } from '../../src/http/request/multipart.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { lexiconRoutes } from './lexicon/routes.ts';
import { speechSettings } from './settings.ts';
import { normalizeRoutes } from './synthesis/normalize-routes.ts';
import { speechRoutes } from './synthesis/routes.ts';
import { transcriptionRoutes } from './transcription/routes.ts';
import { Transcriber } from './transcription/service.ts';

/** Speech synthesis and transcription: `/v1/audio/speech`, `normalize`, `lexicon`, `transcriptions` and `translations`, and `/dev/captioned_speech`. */
export const speech = definePlugin({
  name: 'speech',
  needs: ['tts', 'stt', 'audioFiles', 'audioEncoder', 'voices', 'lexicons', 'blobs', 'calls', 'clock', 'log'],
  paths: [
    '/v1/audio/speech',
    '/v1/audio/normalize',
    '/v1/audio/lexicon',
    '/dev/captioned_speech',
    '/v1/audio/transcriptions',
    '/v1/audio/translations',
  ],
  settings: speechSettings,
  async setup({ services, settings: { limits, dataDir }, lifecycle }) {
    const { tts, stt, log, clock, lexicons, audioEncoder: encoder } = services;
    const { speechCharacters: maxCharacters } = limits;
    const uploads = { folder: join(dataDir, 'uploads'), fileBytes: limits.transcriptionBytes };
    await prepareUploadFolder(uploads.folder, clock);
    const requests = lifecycle.drains(
      new SpeechRequests({
        ...services,
        endpoint: '/v1/audio/speech',
        voices: new StoredVoices(services),
        requestsPerOrganization: limits.speechRequestsPerOrganization,
      }),
    );
    const transcriber = lifecycle.drains(
      new Transcriber({
        ...services,
        requestsPerOrganization: limits.transcriptionRequestsPerOrganization,
      }),
    );
    return {
      routes: new Elysia({ name: 'speech-plugin' })
        .use(speechRoutes({ tts, log, encoder, requests, maxCharacters }))
        .use(normalizeRoutes(maxCharacters, clock))
        .use(lexiconRoutes(lexicons))
        .use(transcriptionRoutes(transcriber, uploads)),
      ready: () => readyWithAnyModel([...modelReports(tts), ...modelReports(stt)]),
    };
  },
});
