/** Entry of the voice activity process, which the serving process never loads. */

import { serveProcess } from '../../workers/worker-main.ts';
import type { FromSilero, LoadSilero, ToSilero } from '../shared/protocol.ts';
import { loadSilero, type SileroModel } from './model.ts';

serveProcess<LoadSilero, undefined, ToSilero, FromSilero>('Voice activity process', (send) => {
  let model: SileroModel | undefined;
  /** Ends when the messages so far are dealt with: a stream must not be forgotten amid its batch. */
  let work: Promise<void> = Promise.resolve();
  const deal = async (message: ToSilero) => {
    if (message.kind === 'forget') model?.forget(message.streams);
    else if (model) send({ kind: 'judged', probabilities: await model.judge(message) });
  };
  return {
    async load({ model: path }) {
      model = await loadSilero(path, { provider: 'cpu', threads: 1 });
      return undefined;
    },
    receive(message) {
      // A throw is not caught and ends the process: the batch would never be answered.
      work = work.then(() => deal(message));
    },
  };
});
