import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = Bun.which('redis-server') ?? undefined;

/** Whether this machine has a Redis server; `needs(context, HAS_REDIS, 'Redis')` says so. */
export const HAS_REDIS = PROGRAM !== undefined;

/** A Redis server of its own, on 127.0.0.1. */
export interface RedisServer {
  readonly url: string;
  /** Breaks all connections, and loses everything, as one without a disk does that is started again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it where it is: it takes connections and answers nothing. */
  pause(): void;
  /** Lets it go on. */
  resume(): void;
  /** Ends the server and removes its files. Idempotent. */
  close(): Promise<void>;
}

/** Starts a server and waits until it answers; the caller closes it. It ends with this process, however that ends. */
export async function startRedis(): Promise<RedisServer> {
  if (PROGRAM === undefined) throw new Error('this machine has no Redis: ask HAS_REDIS first');
  const folder = await mkdtemp(join(tmpdir(), 'redis-test-'));
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const guarded = `${PROGRAM} "$@" & server=$!; read _; kill $server; wait $server`;
  let running:
    | { readonly shell: Bun.Subprocess<'pipe', 'pipe', 'inherit'>; readonly pid: number }
    | undefined;
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => {
    if (running !== undefined) process.kill(running.pid, signal);
  };
  const start = async () => {
    const shell = Bun.spawn(['sh', '-c', guarded, 'redis', ...settings], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    running = { shell, pid: await pidWhenReady(shell.stdout) };
  };
  const stop = async () => {
    send('SIGCONT');
    const { shell } = running ?? {};
    running = undefined;
    shell?.stdin.end();
    await shell?.exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    start,
    pause: () => send('SIGSTOP'),
    resume: () => send('SIGCONT'),
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function pidWhenReady(stdout: ReadableStream<Uint8Array>): Promise<number> {
  const decoder = new TextDecoder();
  let output = '';
  for await (const chunk of stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (output.includes('Ready to accept connections')) break;
  }
  return Number(/pid=(\d+), just started/.exec(output)?.[1]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}
