import { defineLoader } from '../../inference/pool/model-loader.ts';
import { espeakOfProcess } from '../espeak/host/process-engine.ts';
import { loadPiper } from './model.ts';
import type { PiperSpec } from './settings.ts';

export const piperLoader = defineLoader<PiperSpec>({
  kind: 'piper',
  load({ modelsDir, model, settings, voice }, { threads }) {
    const espeak = modelsDir === undefined ? undefined : espeakOfProcess(modelsDir);
    // Never on a GPU: CUDA builds a plan for each convolution whenever a length changes, which takes over a second per sentence.
    return loadPiper({ model, settings, voice, espeak, runtime: { provider: 'cpu', threads } });
  },
});
