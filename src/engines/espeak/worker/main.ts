/** Entry file of the eSpeak process. The other processes must not import it. */

import { serveProcess } from '../../../inference/workers/worker-main.ts';
import type { FromEspeak, LoadEspeakLibrary, ToEspeak } from '../shared/protocol.ts';
import { importEspeak } from './import-library.ts';
import { type EspeakLibrary, openLibrary } from './library.ts';

serveProcess<LoadEspeakLibrary, undefined, ToEspeak, FromEspeak>('eSpeak process', (send) => {
  let library: EspeakLibrary | undefined;
  return {
    async load({ modelsDir }) {
      library = openLibrary(await importEspeak(modelsDir));
      return undefined;
    },
    receive({ voice, clauses }) {
      send({ clauses: library?.phonemes(voice, clauses) });
    },
  };
});
