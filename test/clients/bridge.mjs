/**
 * What the clients under test share: each runs in Node, because Bun puts an implementation of its own in the
 * place of `ws`. A client reads one command a line and tells what it hears, one JSON object a line.
 */

import { createInterface } from 'node:readline';

/** What the test asked for. */
export const ask = JSON.parse(process.argv[2] ?? '{}');

/** Tells the test something. */
export function tell(said) {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

// What escapes a client would take its user's process down.
for (const name of ['uncaughtException', 'unhandledRejection']) {
  process.on(name, (error) => tell({ kind: 'uncaught', name, message: String(error?.stack ?? error) }));
}

/** Calls the handler that each command names; ends with the input. */
export async function obey(handlers) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [[name, argument]] = Object.entries(JSON.parse(line));
    await handlers[name](argument);
  }
}

/** Tells of the opening and the end of a socket of either kind. */
export function watch(socket) {
  socket.addEventListener('open', () =>
    tell({ kind: 'open', protocol: socket.protocol, extensions: socket.extensions }),
  );
  socket.addEventListener('close', ({ code, reason }) => tell({ kind: 'close', code, reason }));
}
