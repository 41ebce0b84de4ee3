import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A recorded request. */
export interface SeenRequest {
  readonly path: string;
  /** First byte of the Range header; undefined without one. */
  readonly fromByte: number | undefined;
}

/** A response, possibly with a transport error. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sends only this many bytes of the body, then closes the connection … */
  readonly cutAfterBytes?: number;
  /** … when this promise resolves; default: immediately. */
  readonly cutOn?: Promise<unknown>;
  /** Sends only this many bytes of the body and keeps the connection open. */
  readonly stallAfterBytes?: number;
  /** Omits `content-length`, so that the end of the connection ends the body. */
  readonly withoutLength?: boolean;
}

export interface FaultyServer {
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
}

/** An HTTP server on raw sockets that can violate the protocol. Closes with the running test. */
export async function startFaultyServer(
  answer: (request: SeenRequest, index: number) => Reply,
): Promise<FaultyServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let head = '';
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const fromByte = /^range: bytes=(\d+)-\r$/im.exec(head)?.[1];
      const request = {
        path: head.split(' ')[1] ?? '',
        fromByte: fromByte === undefined ? undefined : Number(fromByte),
      };
      head = '';
      requests.push(request);
      send(socket, answer(request, requests.length - 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { origin: `http://127.0.0.1:${address.port}`, requests };
}

/** A correct response: the whole file or the requested range. */
export function properReply(request: SeenRequest, file: Uint8Array): Reply {
  if (request.fromByte === undefined) return { body: file };
  return {
    status: 206,
    headers: { 'content-range': `bytes ${request.fromByte}-${file.length - 1}/${file.length}` },
    body: file.subarray(request.fromByte),
  };
}

function send(socket: Socket, reply: Reply): void {
  const body = reply.body ?? new Uint8Array();
  const headers = {
    ...(reply.withoutLength === true ? {} : { 'content-length': String(body.length) }),
    connection: 'close',
    ...reply.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reply.status ?? 200} Status\r\n${lines.join('')}\r\n`);
  if (reply.stallAfterBytes !== undefined) {
    socket.write(body.subarray(0, reply.stallAfterBytes));
    return;
  }
  socket.write(body.subarray(0, reply.cutAfterBytes ?? body.length));
  void (reply.cutOn ?? Promise.resolve()).then(() => socket.end());
}
