import { prepareUploadFolder, uploadFolder } from '../../src/http/request/multipart.ts';
import { EventLoopYielder } from '../../src/kit/async/event-loop-yielder.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';
import { TRANSCRIPTION_ENDPOINTS } from '../../src/usage/usage-meters.ts';
import { LEXICON_ROUTES } from './lexicon/routes.ts';
import { speechSettings } from './settings.ts';
import { normalizeRoutes } from './synthesis/normalize-routes.ts';
import { captionRoutes, speechRoutes } from './synthesis/routes.ts';
import { SpeechResponder } from './synthesis/speech-responder.ts';
import { transcriptionRoutes } from './transcription/routes.ts';
import { Transcriber } from './transcription/service.ts';

/** Speech synthesis and transcription: `/v1/audio/speech`, `normalize`, `lexicon`, `transcriptions` and `translations`, and `/dev/captioned_speech`. */
export const speech = definePlugin({
  name: 'speech',
  needs: ['tts', 'stt', 'audioFiles', 'audioEncoder', 'voices', 'lexicons', 'blobs', 'calls', 'clock', 'log'],
  routes: ({ limits: { speechCharacters, transcriptionBytes }, dataDir }) => [
    ...speechRoutes(speechCharacters),
    ...captionRoutes(speechCharacters),
    ...normalizeRoutes(speechCharacters),
    ...LEXICON_ROUTES,
    ...transcriptionRoutes({ folder: uploadFolder(dataDir), fileBytes: transcriptionBytes }),
  ],
  settings: speechSettings,
  usage: ['/v1/audio/speech', ...Object.values(TRANSCRIPTION_ENDPOINTS)],
  async setup({ services, settings: { limits, dataDir }, lifecycle }) {
    const { tts, stt, log, clock, lexicons, audioEncoder: encoder } = services;
    await prepareUploadFolder(uploadFolder(dataDir), clock);
    const requests = new SpeechRequests({
      ...services,
      endpoint: '/v1/audio/speech',
      voices: new StoredVoices(services),
      requestsPerOrganization: limits.speechRequestsPerOrganization,
    });
    lifecycle.drains(requests.open);
    const transcriber = new Transcriber({
      ...services,
      requestsPerOrganization: limits.transcriptionRequestsPerOrganization,
    });
    lifecycle.drains(transcriber.open);
    return {
      services: {
        tts,
        requests,
        responder: new SpeechResponder({ requests, encoder, log }),
        yielder: new EventLoopYielder(clock),
        lexicons,
        transcriber,
      },
      ready: () => readyWithAnyModel([...modelReports(tts), ...modelReports(stt)]),
    };
  },
});
