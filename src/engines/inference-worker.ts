/** Entry file of an inference process. The serving process must not import it. */

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
    case 'kokoro': {
      const engine = espeakIn(spec.modelsDir);
      const phonemes = (voice: string, clauses: readonly string[]) => engine.phonemes(voice, clauses);
      return loadKokoro({ ...spec, runtime, onImport, espeak: phonemes });
    }
    case 'piper':
      // Never on a GPU: CUDA builds a plan for each convolution whenever a length changes, which takes over a second per sentence.
      return loadPiper({ ...spec, runtime: { ...runtime, provider: 'cpu' } });
    case 'whisper':
      return loadWhisper({ ...spec, runtime, onImport });
    case 'minilm':
      return loadMinilm({ ...spec, runtime });
    case 'resemblyzer':
      return loadSpeakers({ ...spec, runtime, onImport });
  }
});

/** One eSpeak process for all models of this process. It starts with the first text that needs it. */
function espeakIn(modelsDir: string): EspeakEngine {
  espeak ??= new EspeakEngine({ modelsDir, environment: {}, log: workerLog('Inference process') });
  return espeak;
}
