/** Entry of an inference process. The only file that the serving process never loads. */

import { loadKokoro } from './kokoro/kokoro-model.ts';
import type { ModelSpec } from './model-spec.ts';
import { loadPiper } from './piper/piper-model.ts';
import { loadEspeak } from './text/espeak.ts';
import { serveInference } from './worker-loop.ts';

serveInference<ModelSpec>(async (spec, runtime) => {
  switch (spec.kind) {
    case 'kokoro':
      return loadKokoro({ ...spec, runtime });
    case 'piper': {
      const espeak = await loadEspeak();
      return loadPiper({
        ...spec,
        runtime,
        toPhonemes: async (text) => (await espeak(text)).join(' '),
      });
    }
  }
});
