/** Entry of the process of a language model, which the serving process never loads. */

import { setSchedIdle } from '../../workers/sched-idle.ts';
import { serveProcess } from '../../workers/worker-main.ts';
import type { FromLlama, LoadedLlama, LoadLlama, ToLlama } from '../shared/protocol.ts';
import { type LlamaModel, loadLlama } from './model.ts';

serveProcess<LoadLlama, LoadedLlama, ToLlama, FromLlama>('Language model process', (send) => {
  let model: LlamaModel | undefined;
  return {
    async load(load) {
      if (load.nice) setSchedIdle();
      model = await loadLlama(load);
      return model.loaded;
    },
    receive(message) {
      if (model === undefined) return;
      const { answer } = message;
      switch (message.kind) {
        case 'measure':
          // A throw is not caught and ends the process: the answer would never come.
          model.measure(message.conversation).then((tokens) => {
            send(tokens === undefined ? { kind: 'refused', answer } : { kind: 'measured', answer, tokens });
          });
          return;
        case 'begin':
          model.begin(answer, message.conversation, message.sampling, send);
          return;
        case 'enough': {
          const end = model.enough(answer);
          if (end) send({ kind: 'ended', answer, ...end });
          return;
        }
        case 'forget':
          model.forget(answer).then(() => send({ kind: 'forgotten', answer }));
          return;
      }
    },
  };
});
