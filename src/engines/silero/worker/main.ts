/** Entry file of the voice activity process. The serving process must not import it. */

import { serveProcess } from '../../../inference/workers/worker-main.ts';
import type { FromSilero, LoadSilero, ToSilero } from '../shared/protocol.ts';
import { loadSilero, type SileroModel } from './model.ts';

serveProcess<LoadSilero, undefined, ToSilero, FromSilero>('Voice activity process', (send) => {
  let model: SileroModel | undefined;
  /** Serializes the messages: a stream must not be dropped while its batch is being classified. */
  let queue: Promise<void> = Promise.resolve();
  const handle = async (message: ToSilero) => {
    if (message.kind === 'drop-streams') model?.dropStreams(message.streams);
    else if (model) send({ kind: 'classified', probabilities: await model.classify(message) });
  };
  return {
    async load({ model: path }) {
      model = await loadSilero(path, { provider: 'cpu', threads: 1 });
      return undefined;
    },
    receive(message) {
      // An error is not caught and terminates the process, because the batch would never get a reply.
      queue = queue.then(() => handle(message));
    },
  };
});
