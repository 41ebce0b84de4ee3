import { join } from 'node:path';
import { batchPlugin } from '../plugins/batch/index.ts';
import { partnerPlugin } from '../plugins/partner/index.ts';
import { realtimePlugin } from '../plugins/realtime/index.ts';
import { responsesPlugin } from '../plugins/responses/index.ts';
import { speechPlugin } from '../plugins/speech/index.ts';
import { videoPlugin } from '../plugins/video/index.ts';
import { voicesPlugin } from '../plugins/voices/index.ts';
import { openEngines } from './engines/open-engines.ts';
import { audioFileReader } from './media/audio-file-reader.ts';
import { clipReader } from './media/clip-reader.ts';
import { runProcess } from './process.ts';
import { codeRunner } from './sandbox/code-runner.ts';
import { searxngSearch } from './search/searxng-search.ts';

/** The one place that lists what this build is made of. */
await runProcess({
  plugins: ({ limits, voices, partner, batch, video, dataDir }) => [
    speechPlugin({
      maxCharacters: limits.speechCharacters,
      requestsPerOrganization: {
        speech: limits.speechRequestsPerOrganization,
        transcription: limits.transcriptionRequestsPerOrganization,
      },
      uploads: { folder: join(dataDir, 'uploads'), fileBytes: limits.transcriptionBytes },
    }),
    voicesPlugin({
      uploads: { folder: join(dataDir, 'uploads'), fileBytes: limits.voiceClipBytes },
      requestsPerOrganization: limits.uploadsPerOrganization,
      voicesPerOrganization: limits.voicesPerOrganization,
      ...voices,
    }),
    realtimePlugin({
      connectionsPerOrganization: limits.realtimeConnectionsPerOrganization,
      maxCharacters: limits.speechCharacters,
    }),
    partnerPlugin({
      maxCharacters: limits.speechCharacters,
      perOrganization: {
        calls: limits.partnerCallsPerOrganization,
        voiceRequests: limits.speechRequestsPerOrganization,
      },
      ...partner,
    }),
    batchPlugin({
      uploadsPerOrganization: limits.uploadsPerOrganization,
      storedBytesPerOrganization: limits.storedBytesPerOrganization,
      batchesPerOrganization: limits.batchesPerOrganization,
      ...batch,
      lineBytes: limits.requestBytes,
    }),
    responsesPlugin({ requestsPerOrganization: limits.textRequestsPerOrganization }),
    videoPlugin({
      requestsPerOrganization: limits.videoRequestsPerOrganization,
      room: {
        mostOpen: limits.videosPerOrganization,
        mostBytes: limits.storedVideoBytesPerOrganization,
      },
      folder: join(dataDir, 'videos'),
      ...video,
    }),
  ],
  async open(config, needs, words) {
    const { ttsModels, sttModels, textModels, embedModels, videoModels, inference, modelsDir, limits } =
      config;
    const models = { ttsModels, sttModels, textModels, embedModels, videoModels };
    const opened = new AsyncDisposableStack();
    const keep = <Part extends { close(): Promise<void> }>(part: Part) =>
      opened.adopt(part, (it) => it.close());
    const { slots } = keep(await openEngines({ needs, ...models, inference, modelsDir, ...words }));
    return {
      slots: {
        ...slots,
        ...(needs.has('audioFiles') && {
          audioFiles: keep(
            audioFileReader({ environment: inference.environment, longestS: limits.transcriptionSeconds }),
          ),
        }),
        ...(needs.has('clips') && { clips: keep(clipReader({ environment: inference.environment })) }),
        ...(needs.has('codeRunner') && {
          codeRunner: keep(codeRunner({ ...config.codeInterpreter, log: words.log })),
        }),
        ...(needs.has('webSearch') && { webSearch: searxngSearch(config.webSearch) }),
      },
      close: () => opened.disposeAsync(),
    };
  },
});
