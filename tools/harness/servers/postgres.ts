import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sha256 } from '../../../src/kit/storage/content-hash.ts';
import { USER_CACHE } from '../user-cache.ts';
import { selfSigned } from './certificate.ts';
import { onReservedPort } from './reserved-port.ts';
import { runWithParent } from './run-with-parent.ts';

/** Folder of the server programs on Debian, one per version; they are not on the PATH. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
const DEBIAN_VERSIONS = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).map(Number) : [];
const ANY_PROGRAM = [
  ...DEBIAN_VERSIONS.sort((a, b) => b - a).map((version) => `${DEBIAN_FOLDER}/${version}/bin/postgres`),
  Bun.which('postgres'),
].find((path) => path !== null && existsSync(path));

/** Whether PostgreSQL is installed; for `needs(context, HAS_POSTGRES, 'PostgreSQL')`. */
export const HAS_POSTGRES = ANY_PROGRAM !== undefined;

const USER = 'service';
/** A password with characters that a URL must escape. */
const PASSWORD = 'p@ss/w%rd?';

/** Files that tests generate once. */
const CACHE = join(USER_CACHE, 'test-fixtures');
/** Small segments of the log, because the files are copied for each server. */
const INITDB_OPTIONS = [
  ...['-U', USER, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  '--wal-segsize=1',
];

/** A separate PostgreSQL server on 127.0.0.1, with optional TLS. */
export interface PostgresServer {
  readonly port: number;
  readonly password: string;
  /** Path of the self-signed certificate for localhost. */
  readonly certificateFile: string;
  /** Creates an empty database and returns its URL. */
  freshDatabase(): Promise<string>;
  /** Closes all connections, like a restart of the machine. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its files. Idempotent. */
  close(): Promise<void>;
}

/** Creates and starts a server; the caller closes it. It exits with this process, even after a crash. */
export async function startPostgres(): Promise<PostgresServer> {
  if (!ANY_PROGRAM) throw new Error('this machine has no PostgreSQL: check HAS_POSTGRES first');
  const programs = ANY_PROGRAM.replace(/\/[^/]*$/, '');
  const folder = await mkdtemp(join(tmpdir(), 'postgres-test-'));
  const data = join(folder, 'data');
  const certificate = selfSigned();
  const files = {
    password: join(folder, 'password'),
    certificate: join(folder, 'certificate.pem'),
    key: join(folder, 'key.pem'),
  };
  await writeFile(files.password, PASSWORD);
  await writeFile(files.certificate, certificate.cert);
  await writeFile(files.key, certificate.key, { mode: 0o600 });
  await chmod(folder, 0o755);
  const asServer = await handOver([folder, ...Object.values(files)]);

  await createData({ data, programs, asServer, folder, passwordFile: files.password });

  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: '200',
    shared_buffers: '16MB',
    fsync: 'off',
    ssl: 'on',
    ssl_cert_file: files.certificate,
    ssl_key_file: files.key,
  };
  let port = 0;
  // SIGINT does not wait for clients.
  const command = () => [
    ...[...asServer, 'sh', '-c', runWithParent('INT'), join(programs, 'postgres'), '-D', data],
    ...Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const url = (database: string) =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;

  let server: ServerProcess | undefined;
  let databases = 0;
  const stop = async () => {
    const running = server;
    server = undefined;
    if (running === undefined) return;
    running.stdin.end();
    await running.exited;
  };
  const start = async () => {
    server = await untilReady(command(), folder);
  };
  await onReservedPort((free) => {
    port = free;
    return start();
  });
  return {
    port,
    password: PASSWORD,
    certificateFile: files.certificate,
    async freshDatabase() {
      databases += 1;
      const name = `records_${databases}`;
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
      await client.end();
      return url(name);
    },
    stop,
    start,
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface DataFolder {
  /** The folder to create. */
  readonly data: string;
  /** Folder of the programs of PostgreSQL. */
  readonly programs: string;
  /** Command prefix that changes the user. */
  readonly asServer: readonly string[];
  /** Working folder, which the user of the server may read. */
  readonly folder: string;
  readonly passwordFile: string;
}

/** Creates the files of an empty server. They are copied from the first server of this checkout: `initdb` takes a second. */
async function createData({ data, programs, asServer, folder, passwordFile }: DataFolder): Promise<void> {
  const inputs = [programs, asServer, PASSWORD, INITDB_OPTIONS];
  const entry = join(CACHE, `postgres-${sha256(JSON.stringify(inputs))}`);
  if (existsSync(entry)) return await run(folder, ['cp', '-a', entry, data]);
  const initdb = [join(programs, 'initdb'), '-D', data, '--pwfile', passwordFile, ...INITDB_OPTIONS];
  await run(folder, [...asServer, ...initdb]);
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(join(CACHE, 'unfinished-'));
  await run(folder, ['cp', '-a', data, join(unfinished, 'data')]);
  // Fails if another process has created the same files in the meantime.
  await rename(join(unfinished, 'data'), entry).catch(() => undefined);
  await rm(unfinished, { recursive: true });
}

async function run(folder: string, command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe', cwd: folder });
  const [errors, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${errors}`);
}

type ServerProcess = Bun.Subprocess<'pipe', 'ignore', 'pipe'>;

async function untilReady(command: string[], folder: string): Promise<ServerProcess> {
  const server = Bun.spawn(command, { stdin: 'pipe', stdout: 'ignore', stderr: 'pipe', cwd: folder });
  const ready = Promise.withResolvers<ServerProcess>();
  void (async () => {
    // Read to the end, because a full pipe would block the server.
    let output = '';
    for await (const text of server.stderr.pipeThrough(new TextDecoderStream())) {
      output = (output + text).slice(-10_000);
      if (output.includes('ready to accept connections')) ready.resolve(server);
    }
    ready.reject(new Error(`PostgreSQL did not start: ${output}`));
  })();
  return ready.promise;
}

/** PostgreSQL does not run as root: changes the owner of the files and returns a command prefix that changes the user. */
async function handOver(paths: readonly string[]): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const id = Number(await new Response(Bun.spawn(['id', '-u', 'postgres']).stdout).text());
  for (const path of paths) await chown(path, id, -1);
  return ['runuser', '-u', 'postgres', '--'];
}
