/** Holds many connections to `/v1/realtime`, as configured by cases/realtime-idle.ts: `bun idle-clients.ts <base URL>`. */

import { answerLines } from '../line-process.ts';
import { TimedClient } from './client.ts';

export type IdleOrder =
  /** Opens more sockets. */
  | { readonly kind: 'open'; readonly sockets: number }
  /** Sets server_vad in every session. */
  | { readonly kind: 'detect' }
  | { readonly kind: 'close' };

/** Handshakes at a time. */
const AT_ONCE = 50;
const DETECT = { audio: { input: { turn_detection: { type: 'server_vad' } } } };

const [baseUrl = ''] = process.argv.slice(2);
let clients: TimedClient[] = [];

await answerLines(async (order: IdleOrder) => {
  switch (order.kind) {
    case 'open': {
      const opened = await inTurns(Array.from({ length: order.sockets }), () => TimedClient.open(baseUrl));
      clients.push(...opened);
      break;
    }
    case 'detect':
      await inTurns(clients, (client) => client.configure(DETECT));
      break;
    case 'close':
      await inTurns(clients, (client) => client.close());
      clients = [];
      break;
  }
  return { done: clients.length };
});

/** Does the same with each, a few at a time. */
async function inTurns<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(act))));
  }
  return results;
}
