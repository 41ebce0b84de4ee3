import { defineLoader } from '../../inference/pool/model-loader.ts';
import { loadWhisper } from './model.ts';
import type { WhisperSpec } from './settings.ts';

export const whisperLoader = defineLoader<WhisperSpec>({
  kind: 'whisper',
  load: ({ modelsDir, weights }, runtime, onImport) => loadWhisper({ modelsDir, weights, runtime, onImport }),
});
