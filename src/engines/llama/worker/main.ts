/** Entry point of a language model worker. Never loaded by the server. */

import { setSchedIdle } from '../../workers/sched-idle.ts';
import { serveProcess } from '../../workers/worker-main.ts';
import type { LlamaCommand, LlamaReply, LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { type LlamaModel, loadLlama } from './model.ts';

serveProcess<LoadLlama, LoadedLlama, LlamaCommand, LlamaReply>('Language model process', (send) => {
  let model: LlamaModel | undefined;
  return {
    async load(load) {
      if (load.lowPriority) setSchedIdle();
      model = await loadLlama(load);
      return model.loaded;
    },
    receive(message) {
      if (model === undefined) return;
      const { answer } = message;
      switch (message.kind) {
        case 'measure':
          // Not caught on purpose: an error terminates the worker, because the request would never finish.
          model.measure(message.conversation).then((tokens) => {
            send(
              tokens === undefined ? { kind: 'unsupported', answer } : { kind: 'measured', answer, tokens },
            );
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
