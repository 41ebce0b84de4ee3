/** An eSpeak process without the library. The first clause of a request selects the reply. */

import { existsSync } from 'node:fs';
import type { FromEspeak, LoadEspeakLibrary, ToEspeak } from '../../src/engines/espeak/shared/protocol.ts';
import { serveProcess } from '../../src/inference/workers/worker-main.ts';

/** Clauses with a meaning. Other clauses are returned with the voice. */
export const EXIT = 'exit';
export const HANG = 'hang';

if (import.meta.main) {
  serveProcess<LoadEspeakLibrary, undefined, ToEspeak, FromEspeak>('Fake eSpeak process', (send) => ({
    async load({ modelsDir }) {
      if (!existsSync(modelsDir)) throw new Error('broken');
      return undefined;
    },
    receive({ voice, clauses }) {
      if (clauses[0] === EXIT) process.exit(3);
      if (clauses[0] === HANG) return;
      send({ clauses: voice === 'xx' ? undefined : clauses.map((clause) => `${voice}:${clause}`) });
    },
  }));
}
