import { defineLoader } from '../../inference/pool/model-loader.ts';
import { espeakOfProcess } from '../espeak/host/process-engine.ts';
import type { KokoroSpec } from './settings.ts';
import { loadKokoro } from './worker/model.ts';

export const kokoroLoader = defineLoader<KokoroSpec>({
  kind: 'kokoro',
  load: ({ modelsDir, voices }, runtime, onImport) =>
    loadKokoro({ modelsDir, voices, runtime, onImport, espeak: espeakOfProcess(modelsDir) }),
});
