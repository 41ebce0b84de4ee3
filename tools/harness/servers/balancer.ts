import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onReservedPort } from './reserved-port.ts';
import { runWithParent } from './run-with-parent.ts';

const CONFIGURATION = resolve(import.meta.dirname, '../../../docker/haproxy.cfg');

/** Whether HAProxy is installed; for `needs(context, HAS_BALANCER, 'haproxy')`. */
export const HAS_BALANCER = Bun.which('haproxy') !== null;

/** HAProxy on 127.0.0.1 with the configuration of the repository. */
export interface Balancer {
  readonly baseUrl: string;
  /** The output so far, with the state changes of the nodes. */
  output(): string;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a balancer for nodes on this machine; the caller closes it. It exits with this process, even after a crash.
 * @param nodes the ports of `api-1`, `api-2`.
 * @param configuration path of an HAProxy configuration with these two servers; by default that of the repository.
 */
export async function startBalancer(
  nodes: readonly [number, number],
  configuration = CONFIGURATION,
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'balancer-test-'));
  const path = join(folder, 'haproxy.cfg');
  const template = await readFile(configuration, 'utf8');
  let baseUrl = '';
  const { shell, output, reading } = await onReservedPort(async (port) => {
    baseUrl = `http://127.0.0.1:${port}`;
    await writeFile(path, localized(template, port, nodes));
    return await startProcess(path, baseUrl);
  });
  return {
    baseUrl,
    output,
    async close() {
      shell.stdin.end();
      await shell.exited;
      await reading;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @throws Error with the output if HAProxy exits before a node responds through it. */
async function startProcess(path: string, baseUrl: string) {
  const shell = Bun.spawn(['sh', '-c', runWithParent('TERM'), 'haproxy', '-db', '-f', path], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
  };
  const reading = Promise.all([read(shell.stdout), read(shell.stderr)]);
  while (!(await fetch(`${baseUrl}/healthz`).catch(() => undefined))?.ok) {
    if (shell.exitCode !== null) throw new Error(`haproxy did not start: ${output}`);
    await Bun.sleep(20);
  }
  return { shell, reading, output: () => output };
}

/** Replaces the addresses and paths of containers by those of this machine. */
function localized(configuration: string, port: number, [first, second]: readonly [number, number]): string {
  return (
    configuration
      // Within the default limit of open files.
      .replaceAll('maxconn 20000', 'maxconn 1000')
      .replaceAll('bind :8080', `bind 127.0.0.1:${port}`)
      .replaceAll('api-1:8080', `127.0.0.1:${first}`)
      .replaceAll('api-2:8080', `127.0.0.1:${second}`)
      .replaceAll(/ resolvers \S+ init-addr \S+/g, '')
  );
}
