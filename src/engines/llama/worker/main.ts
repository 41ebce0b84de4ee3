/** Entry point of a language model worker. Never loaded by the server. */

import { setNice, setSchedIdle } from '../../../inference/workers/cpu-priority.ts';
import { serveProcess } from '../../../inference/workers/worker-main.ts';
import { killWithParent } from '../../../kit/process/child-lifecycle.ts';
import type { LlamaCommand, LlamaReply, LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { openGenerator } from './open-generator.ts';

/** Speech and transcription, which must keep up with a call, get the cores first. */
const NICE_LEVEL = 5;

serveProcess<LoadLlama, LoadedLlama, LlamaCommand, LlamaReply>('Language model process', (send) => {
  let opened: Awaited<ReturnType<typeof openGenerator>> | undefined;
  return {
    async load(load) {
      if (load.lowPriority) setSchedIdle();
      else setNice(NICE_LEVEL);
      killWithParent();
      opened = await openGenerator(load);
      return opened.loaded;
    },
    receive(message) {
      if (opened === undefined) return;
      const { model, generator, loaded } = opened;
      switch (message.kind) {
        case 'tokenize': {
          const { id } = message;
          // The response needs at least one token. Not caught on purpose: an error terminates the worker.
          void model.promptTokens(message.conversation, loaded.contextTokens - 1).then((tokens) => {
            if (tokens === undefined) send({ kind: 'unsupported', id });
            else if (typeof tokens === 'string') send({ kind: 'too_long', id, inputTokens: tokens });
            else send({ kind: 'tokenized', id, prompt: tokens });
          });
          return;
        }
        case 'generate': {
          const { id, prompt, rank, scope, sampling, format } = message;
          generator.start(id, {
            prompt,
            rank,
            scope,
            sampling,
            format,
            onEvents: (events, finished) => send({ kind: finished ? 'finished' : 'events', id, events }),
            onFailure: () => send({ kind: 'failed', id }),
          });
          return;
        }
        case 'cancel': {
          const { id } = message;
          // Not caught on purpose: an error terminates the worker, because the slot would never be released.
          generator.cancel(id).then((cancelled) => cancelled && send({ kind: 'cancelled', id }));
          return;
        }
        case 'audio_load':
          generator.shareCores(message.level);
          return;
      }
    },
  };
});
