/** Voice activity detection. */

import { scopedMetrics } from '../../kit/logging/scoped-metrics.ts';
import type { Component } from '../family.ts';

export const silero: Component<'vad'> = {
  slot: 'vad',
  catalog: ['silero'],
  purpose: 'voice activity detection',
  async open({ modelsDir, inference: { environment }, log, metrics }) {
    const { openVad } = await import('./host/engine.ts');
    const scoped = scopedMetrics(metrics);
    const vad = await openVad({ modelsDir, environment, log, metrics: scoped });
    return {
      value: vad,
      async close() {
        try {
          await vad.close();
        } finally {
          scoped.close();
        }
      },
    };
  },
};
