/** The `ws` package without a client library. Settings: url, protocols, options. */

import WebSocket from 'ws';
import { report, reportSocket, runCommands, settings } from './bridge.mjs';

const socket = new WebSocket(settings.url, settings.protocols ?? [], settings.options ?? {});
reportSocket(socket);
socket.on('error', ({ message }) => report({ kind: 'error', message }));
socket.on('ping', (data) => report({ kind: 'ping', data: String(data) }));
socket.on('pong', (data) => report({ kind: 'pong', data: String(data) }));
socket.on('message', (data, binary) => {
  if (binary) report({ kind: 'binary', length: data.length });
  else report({ kind: 'event', event: JSON.parse(String(data)) });
});

await runCommands({
  send: (event) => socket.send(JSON.stringify(event)),
  /** Appends silence. */
  zeros: (bytes) => {
    const audio = Buffer.alloc(bytes).toString('base64');
    socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio, event_id: `zeros_${bytes}` }));
  },
  text: (text) => socket.send(text),
  binary: (base64) => socket.send(Buffer.from(base64, 'base64')),
  /** One message in several frames. */
  pieces: (pieces) => {
    report({ kind: 'frame', from: 'client', frame: JSON.parse(pieces.join('')) });
    for (const [index, piece] of pieces.entries()) socket.send(piece, { fin: index === pieces.length - 1 });
  },
  ping: (data) => socket.ping(data),
  pause: () => socket.pause(),
  resume: () => socket.resume(),
  close: ({ code, reason }) => socket.close(code, reason),
  terminate: () => socket.terminate(),
});
