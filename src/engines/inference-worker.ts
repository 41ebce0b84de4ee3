/** Entry file of an inference process. The serving process must not import it. */

import type { EspeakNg } from '../text/front-end.ts';
import { EspeakEngine } from './espeak/host/engine.ts';
import { loadKokoro } from './kokoro/worker/model.ts';
import { loadMinilm } from './minilm/worker/model.ts';
import { loadPiper } from './piper/model.ts';
import type { ModelSpec } from './pool/model-spec.ts';
import { serveInference } from './pool/worker-loop.ts';
import { loadSpeakers } from './speakers/worker/model.ts';
import { loadWhisper } from './whisper/model.ts';
import { workerLog } from './workers/worker-log.ts';

let espeak: EspeakEngine | undefined;

serveInference<ModelSpec>((spec, runtime, onImport) => {
  switch (spec.kind) {
    case 'kokoro':
      return loadKokoro({ ...spec, runtime, onImport, espeak: espeakIn(spec.modelsDir) });
    case 'piper': {
      const ng = spec.modelsDir === undefined ? undefined : espeakIn(spec.modelsDir);
      // Never on a GPU: CUDA builds a plan for each convolution whenever a length changes, which takes over a second per sentence.
      return loadPiper({ ...spec, runtime: { ...runtime, provider: 'cpu' }, espeak: ng });
    }
    case 'whisper':
      return loadWhisper({ ...spec, runtime, onImport });
    case 'minilm':
      return loadMinilm({ ...spec, runtime });
    case 'resemblyzer':
      return loadSpeakers({ ...spec, runtime, onImport });
  }
});

/** One eSpeak process for all models of this process. It starts with the first text that needs it. */
function espeakIn(modelsDir: string): EspeakNg {
  espeak ??= new EspeakEngine({ modelsDir, environment: {}, log: workerLog('Inference process') });
  const engine = espeak;
  return (voice, clauses) => engine.phonemes(voice, clauses);
}
