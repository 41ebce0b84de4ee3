import { resolveModelFiles } from '../../models/model-files.ts';
import type { PoolMembership } from '../family.ts';
import type { MinilmModelSettings, MinilmSpec } from './settings.ts';

/** All models share the weights. */
export const minilmPool: PoolMembership<MinilmModelSettings> = {
  name: ({ kind }) => kind,
  spec: ([{ kind }], modelsDir): MinilmSpec => ({
    kind,
    model: resolveModelFiles(modelsDir, 'all-minilm-l6-v2-int8')['model.onnx'] ?? '',
    vocabulary: resolveModelFiles(modelsDir, 'bert-uncased-vocabulary')['vocab.json'] ?? '',
  }),
};
