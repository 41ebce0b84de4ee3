import { defineLoader } from '../../inference/pool/model-loader.ts';
import type { SpeakersSpec } from './shared/spec.ts';
import { loadSpeakers } from './worker/model.ts';

export const speakersLoader = defineLoader<SpeakersSpec>({
  kind: 'resemblyzer',
  load: ({ modelsDir }, runtime, onImport) => loadSpeakers({ modelsDir, runtime, onImport }),
});
