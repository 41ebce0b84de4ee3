/** Whisper, the transcription model. */

import { defineFamily, type NeededFiles } from '../family.ts';
import { whisperPool } from './pool.ts';
import { parseWhisper, type WhisperModelSettings, WhisperTable } from './settings.ts';
import { hubWhisper, requireWhisperWeights, whisperKind } from './shared/weights.ts';

export const whisper = defineFamily({
  kind: 'whisper',
  task: 'transcription',
  schema: WhisperTable,
  parse: parseWhisper,
  files: ({ weights }: WhisperModelSettings): NeededFiles => {
    requireWhisperWeights(weights);
    const hub = hubWhisper(weights);
    const isOutside = weights.startsWith('/') || hub !== undefined;
    return { catalog: [whisperKind(weights)], outside: isOutside ? { weights, hub } : undefined };
  },
  pool: whisperPool,
  open: async (models, host) => (await import('./open.ts')).openWhisper(models, host),
  // It has no rules of its own.
  follow: async (followed) => followed,
});
