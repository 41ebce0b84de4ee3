import { createServer } from 'node:net';

/**
 * Ports of servers that tests start: below the ports that Linux gives to other sockets (from 32768), so that no other test
 * receives the port of a server while it is restarted. Each worker of a process has a block of its own.
 */
const FIRST_PORT = 20_000;
const PORTS_PER_BLOCK = 400;
const BLOCKS = 30;
const MAX_ATTEMPTS = 5;

const worker = Number(process.env.VITEST_POOL_ID ?? 0);
const block = (process.pid * 7 + worker) % BLOCKS;
let next = 0;

/** The next port of this worker on which no server of 127.0.0.1 listens. */
export async function reservedPort(): Promise<number> {
  for (let tried = 0; tried < PORTS_PER_BLOCK; tried += 1) {
    const port = FIRST_PORT + block * PORTS_PER_BLOCK + (next++ % PORTS_PER_BLOCK);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port of block ${block} is free`);
}

/**
 * Starts a server on a reserved port.
 * @param start rejects if the server does not start. Called again with another port then, because another process may have
 *   taken the port in the meantime.
 */
export async function onReservedPort<Server>(start: (port: number) => Promise<Server>): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await reservedPort());
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  return promise;
}
