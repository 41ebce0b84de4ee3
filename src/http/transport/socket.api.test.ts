import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket as TcpSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { toErrorResponse, toServiceError } from '../response/error-body.ts';
import { type ConnectionServer, setServerOf } from './connection-server.ts';
import { CLOSE, type Socket, type SocketListener, socketHandler, upgrade } from './socket.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Records the events of its socket. */
class Recorder implements SocketListener {
  readonly opening = Promise.withResolvers<Socket>();
  readonly closing = Promise.withResolvers<void>();
  readonly frames: (string | number[])[] = [];

  opened(socket: Socket): void {
    this.opening.resolve(socket);
  }

  received(frame: string | Uint8Array): void {
    this.frames.push(typeof frame === 'string' ? frame : [...frame]);
  }

  closed(): void {
    this.closing.resolve();
  }
}

/** A server that upgrades every request to a WebSocket with this recorder. */
function serve() {
  const listener = new Recorder();
  const server = Bun.serve({
    port: 0,
    websocket: socketHandler,
    fetch(request: Request, self: ConnectionServer) {
      setServerOf(self, request);
      try {
        upgrade(request, listener, { protocol: 'realtime', headers: { 'x-request-id': 'req_1' } });
        return undefined;
      } catch (error) {
        return toErrorResponse(toServiceError(error));
      }
    },
  });
  cleanUps.push(() => server.stop(true));
  return { listener, port: server.port ?? 0 };
}

/** Performs a handshake and returns the response headers. The connection stays open, but is not read any more. */
async function shakeHands(port: number, headers: Record<string, string> = {}) {
  const tcp = connect(port, '127.0.0.1');
  cleanUps.push(() => tcp.destroy());
  const lines = Object.entries({
    Host: 'x',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  tcp.write(`GET / HTTP/1.1\r\n${lines.join('')}\r\n`);
  const head = await new Promise<string>((resolve) => tcp.once('data', (data) => resolve(data.toString())));
  tcp.pause();
  return { tcp, head };
}

function writeFrame(tcp: TcpSocket, opcode: number, payload: Buffer): void {
  const mask = randomBytes(4);
  const masked = Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  tcp.write(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, masked]));
}

describe('the upgrade', () => {
  it('returns 101 with the request id, and without a subprotocol if none was offered', async () => {
    const { head } = await shakeHands(serve().port);
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(head).toContain('x-request-id: req_1');
    expect(head.toLowerCase()).not.toContain('sec-websocket-protocol');
    const accept = createHash('sha1')
      .update('dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
      .digest('base64');
    expect(head).toContain(accept);
  });

  it.each(['realtime', 'bearer.KEY, realtime', 'realtime, bearer.KEY'])(
    'returns the subprotocol of the endpoint if it was offered: %s',
    async (offered) => {
      const { head } = await shakeHands(serve().port, { 'Sec-WebSocket-Protocol': offered });
      expect(head).toContain('Sec-WebSocket-Protocol: realtime\r\n');
      expect(head).not.toContain('KEY');
    },
  );

  it('never returns an API key', async () => {
    const { head } = await shakeHands(serve().port, { 'Sec-WebSocket-Protocol': 'bearer.KEY' });
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(head.toLowerCase()).not.toContain('sec-websocket-protocol');
  });

  it.each([
    [426, { Upgrade: '' }, 'supports only WebSocket'],
    [426, { Upgrade: 'h2c' }, 'supports only WebSocket'],
    [400, { 'Sec-WebSocket-Key': '' }, 'handshake is malformed'],
  ])('returns %i for %o', async (status, headers, message) => {
    const { head } = await shakeHands(serve().port, headers as unknown as Record<string, string>);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toContain(message);
    if (status === 426) expect(head.toLowerCase()).toContain('upgrade: websocket');
  });
});

/** Sends until the kernel buffers are full and data is buffered in the process. Returns the number of bytes sent. */
async function fillUp(socket: Socket): Promise<number> {
  const frame = 'x'.repeat(32 * 1024);
  let sent = 0;
  for (let isReady = true; isReady; sent += frame.length) {
    socket.send(frame);
    const controller = new AbortController();
    const ready = socket.ready(controller.signal).then(
      () => true,
      () => false,
    );
    // `ready` resolves in the same tick if the buffer is small enough.
    setImmediate(() => controller.abort());
    isReady = await ready;
  }
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  return sent;
}

describe('an open socket', () => {
  it('passes text frames, binary frames and the close event to its listener', async () => {
    const { listener, port } = serve();
    const { tcp } = await shakeHands(port);
    writeFrame(tcp, 1, Buffer.from('grüße'));
    writeFrame(tcp, 2, Buffer.from([1, 2]));
    await expect.poll(() => listener.frames).toEqual(['grüße', [1, 2]]);
    tcp.destroy();
    await listener.closing.promise;
    // Sending after close does nothing.
    const socket = await listener.opening.promise;
    socket.send('late');
    socket.close(CLOSE.normal, '');
    await socket.ready(new AbortController().signal);
  });

  it('ready() waits until a slow client reads', async () => {
    const { listener, port } = serve();
    const { tcp } = await shakeHands(port);
    const socket = await listener.opening.promise;
    const sent = await fillUp(socket);
    const waiting = socket.ready(new AbortController().signal);
    let read = 0;
    tcp.on('data', (data) => {
      read += data.length;
    });
    tcp.resume();
    await waiting;
    await expect.poll(() => read).toBeGreaterThanOrEqual(sent);
  });

  it('ready() rejects when the signal is aborted', async () => {
    const { listener, port } = serve();
    await shakeHands(port);
    const socket = await listener.opening.promise;
    const leaving = new AbortController();
    await fillUp(socket);
    const waiting = socket.ready(leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });

  it('is closed when 4 MiB are buffered for a client that does not read', async () => {
    const { listener, port } = serve();
    await shakeHands(port);
    const socket = await listener.opening.promise;
    let closed = false;
    void listener.closing.promise.then(() => {
      closed = true;
    });
    for (let at = 0; at < 200 && !closed; at++) {
      socket.send('x'.repeat(1024 * 1024));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await listener.closing.promise;
  });
});
