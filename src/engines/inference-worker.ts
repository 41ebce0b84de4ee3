/** Entry file of an inference process. The serving process must not import it. */

import { loadKokoro } from './kokoro/worker/model.ts';
import { loadMinilm } from './minilm/worker/model.ts';
import { loadPiper } from './piper/model.ts';
import type { ModelSpec } from './pool/model-spec.ts';
import { serveInference } from './pool/worker-loop.ts';
import { loadSpeakers } from './speakers/worker/model.ts';
import { loadWhisper } from './whisper/model.ts';

serveInference<ModelSpec>((spec, runtime) => {
  switch (spec.kind) {
    case 'kokoro':
      return loadKokoro({ ...spec, runtime });
    case 'piper':
      return loadPiper({ ...spec, runtime });
    case 'whisper':
      return loadWhisper({ ...spec, runtime });
    case 'minilm':
      return loadMinilm({ ...spec, runtime });
    case 'resemblyzer':
      return loadSpeakers({ ...spec, runtime });
  }
});
