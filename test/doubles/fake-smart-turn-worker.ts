/** An end-of-turn process without a model. The first sample of a request selects the reply. */

import { existsSync } from 'node:fs';
import type {
  FromSmartTurn,
  LoadSmartTurn,
  ToSmartTurn,
} from '../../src/engines/smart-turn/shared/protocol.ts';
import { serveProcess } from '../../src/inference/workers/worker-main.ts';

/** First samples with a meaning. Other values are the probability that is returned. */
export const EXIT = 2;
export const HANG = 3;
/** Returns the number of earlier requests of this process. */
export const COUNT = 4;

/** Variable of the environment: path of a file. While it exists, loads fail. */
export const BROKEN_WHILE = 'BROKEN_WHILE';

if (import.meta.main) {
  serveProcess<LoadSmartTurn, undefined, ToSmartTurn, FromSmartTurn>('Fake end-of-turn process', (send) => {
    let count = 0;
    return {
      async load() {
        if (existsSync(process.env[BROKEN_WHILE] ?? '')) throw new Error('broken');
        return undefined;
      },
      receive({ samples: [value = 0, delayMs = 0] }) {
        if (value === EXIT) process.exit(3);
        const probability = value === COUNT ? count : value;
        count += 1;
        if (value !== HANG) setTimeout(() => send({ probability }), delayMs);
      },
    };
  });
}
