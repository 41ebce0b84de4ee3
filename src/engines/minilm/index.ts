/** All-MiniLM-L6-v2, the embedding model. */

import { defineFamily } from '../family.ts';
import { minilmPool } from './pool.ts';
import { type MinilmModelSettings, MinilmTable, parseMinilm } from './settings.ts';

export const minilm = defineFamily({
  kind: 'minilm',
  task: 'embeddings',
  schema: MinilmTable,
  parse: parseMinilm,
  files: ({ kind }: MinilmModelSettings) => ({ catalog: [kind] }),
  pool: minilmPool,
  open: async (models, host) => (await import('./open.ts')).openMinilm(models, host),
});
