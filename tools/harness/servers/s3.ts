import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../src/contract/core/secret.ts';
import type { S3BlobSettings } from '../../../src/contract/core/settings.ts';

/** Where `.ci/run` builds it, with the version that is tested: a folder of the user, for all checkouts. */
const BUILT = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'voice-service/tools/versitygw-1.8.0/versitygw',
);
const PROGRAM = existsSync(BUILT) ? BUILT : (Bun.which('versitygw') ?? undefined);

/** Whether this machine has a server of S3; `needs(context, HAS_S3, 'versitygw')` says so. */
export const HAS_S3 = PROGRAM !== undefined;

/** A server of S3 of its own, on 127.0.0.1. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Makes an empty bucket. */
  freshBucket(): Promise<S3Bucket>;
  /** Breaks all connections, as a crash would. What was stored is there after {@link start}. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends the server and removes its files. Idempotent. */
  close(): Promise<void>;
}

export interface S3Bucket {
  readonly settings: S3BlobSettings;
  /** Bytes of all that lies in it, also parts of uploads that were not completed. */
  heldBytes(): Promise<number>;
}

/** Starts a server and waits until it answers; the caller closes it. It ends with this process, however that ends. */
export async function startS3(): Promise<S3Server> {
  if (PROGRAM === undefined) throw new Error('this machine has no server of S3: ask HAS_S3 first');
  const folder = await mkdtemp(join(tmpdir(), 's3-test-'));
  // Beside the data, because not every file system keeps attributes.
  const [data, attributes] = [join(folder, 'data'), join(folder, 'attributes')];
  for (const path of [data, attributes]) await mkdir(path);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const access = { accessKeyId: 'test', secretAccessKey: 'secret-of-test', region: 'test-1' };
  const command = [
    ...['sh', '-c', ENDS_WITH_US, PROGRAM, '--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive'],
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
    server = Bun.spawn(command, { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit', cwd: folder });
    await answering(`${endpoint}/health`, server);
  };
  await start();
  let buckets = 0;
  return {
    ...{ endpoint, ...access },
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

/** Runs the server until its standard input is closed, at the latest when this process exits. */
const ENDS_WITH_US = '"$0" "$@" & server=$!; read -r _; kill -KILL $server; wait $server 2>/dev/null';

async function answering(url: string, server: Bun.Subprocess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('the server of S3 did not start');
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await Bun.sleep(20);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
  });
  return promise;
}
