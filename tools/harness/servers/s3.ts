import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../src/contract/core/secret.ts';
import type { S3BlobSettings } from '../../../src/contract/core/settings.ts';
import { onReservedPort } from './reserved-port.ts';
import { runWithParent } from './run-with-parent.ts';

/** Path where `.ci/run` builds the tested version, shared by all checkouts of the user. */
const BUILT = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'voice-service/tools/versitygw-1.8.0/versitygw',
);
const PROGRAM = existsSync(BUILT) ? BUILT : (Bun.which('versitygw') ?? undefined);

/** Whether an S3 server is installed; for `needs(context, HAS_S3, 'versitygw')`. */
export const HAS_S3 = PROGRAM !== undefined;

/** A separate S3 server on 127.0.0.1. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Creates an empty bucket. */
  freshBucket(): Promise<S3Bucket>;
  /** Closes all connections, like a crash. Stored objects exist after {@link start}. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its files. Idempotent. */
  close(): Promise<void>;
}

export interface S3Bucket {
  readonly settings: S3BlobSettings;
  /** Number of stored bytes, including parts of unfinished uploads. */
  heldBytes(): Promise<number>;
}

/** Starts a server and waits until it responds; the caller closes it. It exits with this process, even after a crash. */
export async function startS3(): Promise<S3Server> {
  if (PROGRAM === undefined) throw new Error('this machine has no S3 server: check HAS_S3 first');
  const folder = await mkdtemp(join(tmpdir(), 's3-test-'));
  // Metadata in separate files, because not every file system supports extended attributes.
  const [data, attributes] = [join(folder, 'data'), join(folder, 'attributes')];
  for (const path of [data, attributes]) await mkdir(path);
  let endpoint = '';
  const access = { accessKeyId: 'test', secretAccessKey: 'secret-of-test', region: 'test-1' };
  const command = (): string[] => [
    ...[
      'sh',
      '-c',
      runWithParent('KILL'),
      PROGRAM,
      '--port',
      new URL(endpoint).host,
      '--quiet',
      '--keep-alive',
    ],
    ...['--access', access.accessKeyId, '--secret', access.secretAccessKey, '--region', access.region],
    ...['--health', '/health', 'posix', '--sidecar', attributes, data],
  ];
  let server: Bun.Subprocess<'pipe', 'ignore', 'inherit'> | undefined;
  const stop = async () => {
    const running = server;
    server = undefined;
    running?.stdin.end();
    await running?.exited;
  };
  const start = async () => {
    server = Bun.spawn(command(), { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit', cwd: folder });
    await untilReady(`${endpoint}/health`, server);
  };
  await onReservedPort((port) => {
    endpoint = `http://127.0.0.1:${port}`;
    return start();
  });
  let buckets = 0;
  return {
    endpoint,
    ...access,
    async freshBucket() {
      buckets += 1;
      const bucket = `bucket-${buckets}`;
      await mkdir(join(data, bucket));
      const { accessKeyId, region } = access;
      const secretAccessKey = new Secret(access.secretAccessKey);
      return {
        settings: { kind: 's3', endpoint, bucket, region, accessKeyId, secretAccessKey },
        heldBytes: () => bytesIn(join(data, bucket)),
      };
    },
    stop,
    start,
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, server: Bun.Subprocess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('the S3 server did not start');
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(20);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
