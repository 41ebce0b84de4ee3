/** Entry file of the end-of-turn process. The serving process must not import it. */

import { serveProcess } from '../../../inference/workers/worker-main.ts';
import type { FromSmartTurn, LoadSmartTurn, ToSmartTurn } from '../shared/protocol.ts';
import { loadSmartTurn, type SmartTurnModel } from './model.ts';

serveProcess<LoadSmartTurn, undefined, ToSmartTurn, FromSmartTurn>('End-of-turn process', (send) => {
  let model: SmartTurnModel | undefined;
  const handle = async ({ samples }: ToSmartTurn) => {
    if (model) send({ probability: await model.probability(samples) });
  };
  return {
    async load({ model: path, threads }) {
      model = await loadSmartTurn(path, threads);
      return undefined;
    },
    receive(message) {
      // An error is not caught and terminates the process, because the request would never get a reply.
      void handle(message);
    },
  };
});
