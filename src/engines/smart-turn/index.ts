/** End-of-turn detection. */

import { serviceHandle } from '../../kit/lifecycle/lazy-services.ts';
import type { Component } from '../family.ts';

/** Catalog name, and label of the model in metrics and spans. */
const NAME = 'smart-turn';

export const smartTurn: Component<'turnEnd'> = {
  slot: 'turnEnd',
  catalog: [NAME],
  purpose: 'end-of-turn detection',
  async open({ modelsDir, inference: { threads, environment }, log, metrics, instrument }) {
    const { openSmartTurn } = await import('./host/engine.ts');
    const detector = await openSmartTurn({ modelsDir, threads, environment, log, metrics });
    return serviceHandle(instrument.turnEnd(NAME, detector));
  },
};
