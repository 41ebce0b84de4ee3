import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onReservedPort } from './reserved-port.ts';
import { runWithParent } from './run-with-parent.ts';

const PROGRAM = Bun.which('redis-server') ?? undefined;

/** Enough for each test of a group to have its own. */
const DATABASES = 1024;

/** Whether Redis is installed; for `needs(context, HAS_REDIS, 'Redis')`. */
export const HAS_REDIS = PROGRAM !== undefined;

/** A separate Redis server on 127.0.0.1. */
export interface RedisServer {
  readonly url: string;
  /** Closes all connections and loses all data, like a crash of a server without persistence. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Suspends the process: it accepts connections and sends nothing. */
  pause(): void;
  /** Continues the process. */
  resume(): void;
  /** Stops the server and removes its files. Idempotent. */
  close(): Promise<void>;
}

/** Starts a server and waits until it responds; the caller closes it. It exits with this process, even after a crash. */
export async function startRedis(): Promise<RedisServer> {
  if (PROGRAM === undefined) throw new Error('this machine has no Redis: check HAS_REDIS first');
  const folder = await mkdtemp(join(tmpdir(), 'redis-test-'));
  let port = 0;
  const settings = () => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--databases', String(DATABASES)],
    ...['--dir', folder, '--save', ''],
  ];
  let running:
    | { readonly shell: Bun.Subprocess<'pipe', 'pipe', 'inherit'>; readonly pid: number }
    | undefined;
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => {
    if (running !== undefined) process.kill(running.pid, signal);
  };
  const start = async () => {
    const shell = Bun.spawn(['sh', '-c', runWithParent('TERM'), PROGRAM, ...settings()], {
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
  await onReservedPort((free) => {
    port = free;
    return start();
  });
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

/** @throws Error with the output if the server exits before it is ready. */
async function pidWhenReady(stdout: ReadableStream<Uint8Array>): Promise<number> {
  const decoder = new TextDecoder();
  let output = '';
  for await (const chunk of stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (output.includes('Ready to accept connections')) {
      return Number(/pid=(\d+), just started/.exec(output)?.[1]);
    }
  }
  throw new Error(`Redis did not start: ${output}`);
}
