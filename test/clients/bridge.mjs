/**
 * What the clients under test share: each runs in Node, because Bun puts an implementation of its own in the
 * place of `ws`. A client reads one command a line and tells what it hears, one JSON object a line.
 */

import { createInterface } from 'node:readline';

if (process.versions.bun !== undefined) throw new Error('this client must run in Node');

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
  process.exit();
}

/** Tells of every message that sockets of a class send, as a trace has it. */
export function watchSending(Socket) {
  const { send } = Socket.prototype;
  Socket.prototype.send = function (data, ...more) {
    const frame = typeof data === 'string' ? parsed(data) : { binary: data.length };
    // A piece of a message is no frame of the protocol.
    if (more[0]?.fin === undefined) tell({ kind: 'frame', from: 'client', frame });
    return send.call(this, data, ...more);
  };
}

/** Tells of a text frame that came. */
export function tellReceived(text) {
  tell({ kind: 'frame', from: 'server', frame: parsed(text) });
}

/** JSON, or the text itself when it is none. Of audio only that there is some: it may be large. */
function parsed(text) {
  try {
    return JSON.parse(text, (name, value) => (name === 'audio' && value.length > 8 ? 'AAAA' : value));
  } catch {
    return text;
  }
}

/** Tells of the opening and the end of a socket of either kind, and of all its frames. */
export function watch(socket) {
  watchSending(socket.constructor);
  socket.addEventListener('message', ({ data }) => tellReceived(String(data)));
  socket.addEventListener('open', () =>
    tell({ kind: 'open', protocol: socket.protocol, extensions: socket.extensions }),
  );
  socket.addEventListener('close', ({ code, reason }) => tell({ kind: 'close', code, reason }));
}
