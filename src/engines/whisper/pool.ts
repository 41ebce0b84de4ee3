import type { PoolMembership } from '../family.ts';
import type { WhisperModelSettings, WhisperSpec } from './settings.ts';
import { requireWhisperWeights, whisperKind } from './shared/weights.ts';

/** Models with the same weights share them. */
export const whisperPool: PoolMembership<WhisperModelSettings> = {
  name: ({ weights }) => whisperKind(weights),
  spec([{ kind, weights }], modelsDir): WhisperSpec {
    requireWhisperWeights(weights);
    return { kind, weights, modelsDir };
  },
};
