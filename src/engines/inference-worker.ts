/** Entry of an inference process. The only file that the serving process never loads. */

import { loadKokoro } from './kokoro/kokoro-model.ts';
import { loadMinilm } from './minilm/minilm-model.ts';
import type { ModelSpec } from './model-spec.ts';
import { loadPiper } from './piper/piper-model.ts';
import { loadSpeakers } from './speakers/speaker-model.ts';
import { loadWhisper } from './whisper/whisper-model.ts';
import { serveInference } from './worker-loop.ts';

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
