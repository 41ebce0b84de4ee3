/** A supervised process that echoes messages, exits at `die`, and sends its id at `pid`. */

import { serveProcess } from '../../src/inference/workers/worker-main.ts';

export interface EchoLoad {
  /** Empty: the load never ends. */
  readonly greeting: string;
}

serveProcess<EchoLoad, string, string, string>('Echo', (send) => ({
  load: ({ greeting }) => (greeting === '' ? new Promise(() => undefined) : Promise.resolve(greeting)),
  receive(message) {
    if (message === 'die') process.exit(3);
    send(message === 'pid' ? `${process.pid}` : `${message}!`);
  },
}));
