/** Opens many connections to `/v1/realtime` for cases/realtime-idle.ts: `bun idle-clients.ts <base URL>`. */

import { serveLines } from '../line-process.ts';
import { TimedClient } from './client.ts';

export type IdleOrder =
  /** Opens more sockets. */
  | { readonly kind: 'open'; readonly sockets: number }
  /** Sets server_vad in every session. */
  | { readonly kind: 'detect' }
  | { readonly kind: 'close' };

/** Concurrent handshakes. */
const CONCURRENCY = 50;
const DETECT = { audio: { input: { turn_detection: { type: 'server_vad' } } } };

const [baseUrl = ''] = process.argv.slice(2);
let clients: TimedClient[] = [];

await serveLines(async (order: IdleOrder) => {
  switch (order.kind) {
    case 'open': {
      const opened = await forEachConcurrently(Array.from({ length: order.sockets }), () =>
        TimedClient.open(baseUrl),
      );
      clients.push(...opened);
      break;
    }
    case 'detect':
      await forEachConcurrently(clients, (client) => client.configure(DETECT));
      break;
    case 'close':
      await forEachConcurrently(clients, (client) => client.close());
      clients = [];
      break;
  }
  return { done: clients.length };
});

/** Runs an action for each item with limited concurrency. */
async function forEachConcurrently<Item, Result>(
  items: readonly Item[],
  action: (item: Item) => Promise<Result>,
) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += CONCURRENCY) {
    results.push(...(await Promise.all(items.slice(at, at + CONCURRENCY).map(action))));
  }
  return results;
}
