/**
 * Shared code of the clients under test. They run in Node, because Bun replaces `ws` by its own implementation. A client reads
 * one command per line from standard input, and prints what happens as one JSON object per line.
 */

import { createInterface } from 'node:readline';

if (process.versions.bun !== undefined) throw new Error('this client must run in Node');

/** Settings of the test. */
export const settings = JSON.parse(process.argv[2] ?? '{}');

/** Prints an event for the test. */
export function report(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

// An uncaught error of a client would terminate the process of its user.
for (const name of ['uncaughtException', 'unhandledRejection']) {
  process.on(name, (error) => report({ kind: 'uncaught', name, message: String(error?.stack ?? error) }));
}

/** Calls the handler of each command. Exits at the end of the input. */
export async function runCommands(handlers) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [[name, argument]] = Object.entries(JSON.parse(line));
    await handlers[name](argument);
  }
  process.exit();
}

/** Reports every frame that sockets of a class send, in the format of a trace. */
export function reportSentFrames(Socket) {
  const { send } = Socket.prototype;
  Socket.prototype.send = function (data, ...more) {
    const frame = typeof data === 'string' ? parsed(data) : { binary: data.length };
    // The caller reports a fragmented message as one frame.
    if (more[0]?.fin === undefined) report({ kind: 'frame', from: 'client', frame });
    return send.call(this, data, ...more);
  };
}

/** Reports every text frame that sockets of the class of `ws` receive. */
export function reportReceivedFrames(Socket) {
  const { emit } = Socket.prototype;
  Socket.prototype.emit = function (name, data, isBinary) {
    if (name === 'message' && !isBinary) reportReceivedFrame(String(data));
    return emit.call(this, name, data, isBinary);
  };
}

/** Reports a received text frame. */
function reportReceivedFrame(text) {
  report({ kind: 'frame', from: 'server', frame: parsed(text) });
}

/** Parses JSON; returns other text unchanged. Audio is replaced by a placeholder, because it may be large. */
function parsed(text) {
  try {
    return JSON.parse(text, (name, value) => (name === 'audio' && value.length > 8 ? 'AAAA' : value));
  } catch {
    return text;
  }
}

/** Reports the opening, the frames and the closing of a socket of `ws` or of Node. */
export function reportSocket(socket) {
  reportSentFrames(socket.constructor);
  socket.addEventListener('message', ({ data }) => reportReceivedFrame(String(data)));
  socket.addEventListener('open', () =>
    report({ kind: 'open', protocol: socket.protocol, extensions: socket.extensions }),
  );
  socket.addEventListener('close', ({ code, reason }) => report({ kind: 'close', code, reason }));
}
