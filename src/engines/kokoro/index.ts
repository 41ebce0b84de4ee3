/** Kokoro-82M, the default speech model. */

import { ESPEAK_ENGINE } from '../espeak/shared/files.ts';
import { type Component, defineFamily } from '../family.ts';
import { kokoroPool } from './pool.ts';
import { type KokoroModelSettings, KokoroTable, parseKokoro } from './settings.ts';

export const kokoro = defineFamily({
  kind: 'kokoro',
  task: 'speech',
  schema: KokoroTable,
  parse: parseKokoro,
  ownKeys: ['voices', 'compatibility'],
  files: ({ kind }: KokoroModelSettings) => ({ catalog: [kind, ESPEAK_ENGINE] }),
  mayBeTooSlow: true,
  pool: kokoroPool,
  open: async (models, host) => (await import('./open.ts')).openKokoro(models, host),
});

/** Adapts stored voices to the model. */
export const kokoroVoiceFitter: Component<'voiceFitter'> = {
  slot: 'voiceFitter',
  purpose: 'stored voices',
  open: async (host) => (await import('./open.ts')).openKokoroFitter(host),
};
