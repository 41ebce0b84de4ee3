import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on this machine that a test can interrupt and restore. */
export interface CutProxy {
  readonly port: number;
  /** Closes all connections and rejects new ones. */
  cut(): void;
  /** Closes all connections, and answers each new one with these bytes. */
  respondWith(bytes: string): void;
  /** Stops forwarding data of the open connections without closing them, as if the peer had vanished. New ones work. */
  freeze(): void;
  /** Refuses new connections for good. Open ones work. */
  refuse(): void;
  /** Forwards all connections again, except frozen ones. */
  repair(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Starts a proxy for a port of 127.0.0.1; the caller closes it. */
export async function startCutProxy(target: number): Promise<CutProxy> {
  let isCut = false;
  let response: string | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const bytes = response;
    if (bytes !== undefined) {
      near.on('error', () => undefined);
      near.once('data', () => near.end(bytes));
      // Later bytes are read too: a close with unread bytes would reset the connection and discard the response.
      near.resume();
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut() {
      isCut = true;
      breakAll();
    },
    respondWith(bytes) {
      response = bytes;
      breakAll();
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    refuse() {
      server.close();
    },
    repair() {
      isCut = false;
      response = undefined;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      breakAll();
      await closed;
    },
  };
}
