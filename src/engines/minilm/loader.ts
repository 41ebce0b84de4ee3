import { defineLoader } from '../../inference/pool/model-loader.ts';
import type { MinilmSpec } from './settings.ts';
import { loadMinilm } from './worker/model.ts';

export const minilmLoader = defineLoader<MinilmSpec>({
  kind: 'minilm',
  load: ({ model, vocabulary }, runtime) => loadMinilm({ model, vocabulary, runtime }),
});
