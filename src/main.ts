import { join } from 'node:path';
import { realtimePlugin } from '../plugins/realtime/index.ts';
import { responsesPlugin } from '../plugins/responses/index.ts';
import { speechPlugin } from '../plugins/speech/index.ts';
import { openEngines } from './engines/open-engines.ts';
import { audioFileReader } from './media/audio-file-reader.ts';
import { runProcess } from './process.ts';

/** The one place that lists what this build is made of. */
await runProcess({
  plugins: ({ limits, dataDir }) => [
    speechPlugin({
      maxCharacters: limits.speechCharacters,
      requestsPerOrganization: {
        speech: limits.speechRequestsPerOrganization,
        transcription: limits.transcriptionRequestsPerOrganization,
      },
      uploads: { folder: join(dataDir, 'uploads'), fileBytes: limits.transcriptionBytes },
    }),
    realtimePlugin({
      connectionsPerOrganization: limits.realtimeConnectionsPerOrganization,
      maxCharacters: limits.speechCharacters,
    }),
    responsesPlugin({ requestsPerOrganization: limits.textRequestsPerOrganization }),
  ],
  async open({ ttsModels, sttModels, textModels, embedModels, inference, modelsDir, limits }, needs, words) {
    const models = { ttsModels, sttModels, textModels, embedModels };
    const engines = await openEngines({ needs, ...models, inference, modelsDir, ...words });
    if (!needs.has('audioFiles')) return engines;
    const { environment } = inference;
    const audioFiles = audioFileReader({ environment, longestS: limits.transcriptionSeconds });
    return {
      slots: { ...engines.slots, audioFiles },
      async close() {
        await Promise.all([audioFiles.close(), engines.close()]);
      },
    };
  },
});
