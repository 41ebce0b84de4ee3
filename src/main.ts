import { speechPlugin } from '../plugins/speech/index.ts';
import { openEngines } from './engines/open-engines.ts';
import { runProcess } from './process.ts';

/** The one place that lists what this build is made of. */
await runProcess({
  plugins: ({ limits }) => [
    speechPlugin({
      maxCharacters: limits.speechCharacters,
      requestsPerOrganization: limits.speechRequestsPerOrganization,
    }),
  ],
  openEngines: ({ ttsModels, sttModels, inference, modelsDir }, needs, words) =>
    openEngines({ needs, ttsModels, sttModels, inference, modelsDir, ...words }),
});
