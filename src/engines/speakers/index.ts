/** The speaker encoder of stored voices. */

import { serviceHandle } from '../../kit/lifecycle/lazy-services.ts';
import type { Component } from '../family.ts';
import type { SpeakersSpec } from './shared/spec.ts';

/** Name in the catalog and in the pool. */
const NAME = 'resemblyzer';

export const speakers: Component<'speakers'> = {
  slot: 'speakers',
  catalog: [NAME],
  purpose: 'stored voices',
  plugin: 'voices',
  pooled(modelsDir) {
    const spec: SpeakersSpec = { kind: NAME, modelsDir };
    return { name: NAME, spec };
  },
  async open({ pooled }) {
    const { speakerEncoder } = await import('./host/engine.ts');
    return serviceHandle(speakerEncoder(pooled.pool, NAME));
  },
};
