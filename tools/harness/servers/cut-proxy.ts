import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a server on this machine whose connection a test can cut and restore. */
export interface CutProxy {
  readonly port: number;
  /** Breaks all connections and lets no new one through. */
  cut(): void;
  /** Breaks all connections, and answers every new one with these bytes alone. */
  answer(bytes: string): void;
  /**
   * Takes and passes on nothing more of the connections that are open, and closes none: both sides wait for a peer that has
   * vanished. New ones go through.
   */
  freeze(): void;
  /** Lets everything through again, but for what was frozen. */
  repair(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Starts a proxy before a port of 127.0.0.1; the caller closes it. */
export async function startCutProxy(target: number): Promise<CutProxy> {
  let isCut = false;
  let answer: string | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const bytes = answer;
    if (bytes !== undefined) {
      near.on('error', () => undefined);
      near.once('data', () => near.end(bytes));
      // What is sent after that is read too: a close with unread bytes would take the answer back.
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
    answer(bytes) {
      answer = bytes;
      breakAll();
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    repair() {
      isCut = false;
      answer = undefined;
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      breakAll();
      await closed;
    },
  };
}
