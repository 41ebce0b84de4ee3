import { speechPlugin } from '../plugins/speech/index.ts';
import { openTtsTable } from './engines/tts-table.ts';
import { runProcess } from './process.ts';

/** The one place that lists what this build is made of. */
await runProcess({
  plugins: ({ limits }) => [
    speechPlugin({
      maxCharacters: limits.speechCharacters,
      requestsPerOrganization: limits.speechRequestsPerOrganization,
    }),
  ],
  openTts: ({ ttsModels, inference, modelsDir }, words) =>
    openTtsTable({ models: ttsModels, inference, modelsDir, ...words }),
});
