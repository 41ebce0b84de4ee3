/** The built-in video model, which extrapolates the motion and sound of a clip. */

import type { ModelSettings } from '../../contract/core/settings.ts';
import { defineFamily } from '../family.ts';
import { ContinuationTable } from './settings.ts';

const KIND = 'continuation';

export const continuation = defineFamily({
  kind: KIND,
  task: 'video',
  schema: ContinuationTable,
  parse: (): ModelSettings => ({ kind: KIND }),
  files: () => ({ catalog: [] }),
  async open(models, { inference: { environment }, log }) {
    const { continuationEngine } = await import('./host/engine.ts');
    const open = (id: string) => continuationEngine({ environment, log: log.child({ model: id }) });
    return { engines: new Map([...models.keys()].map((id) => [id, open(id)])) };
  },
});
