import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBlobs } from '../../../src/blobs/open-blobs.ts';
import type { BlobSettings, DatabaseSettings } from '../../../src/contract/core/settings.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import { systemClock, unixSeconds } from '../../../src/kit/clock.ts';
import { parsePostgresUrl } from '../../../src/kit/validation/postgres-url.ts';
import { creditStore } from '../../../src/records/accounts/credit-store.ts';
import { openRecords } from '../../../src/records/open-records.ts';
import type { Records } from '../../../src/records/schema/records.ts';
import { parseCredits } from '../../../src/usage/credit-amounts.ts';
import { type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { type S3Server, startS3 } from '../servers/s3.ts';
import { type LaunchedService, launchService } from '../services/launcher.ts';

/** Stores and processes of the service that run the same batches. */
export interface BatchSite {
  /**
   * Starts a process and waits until its port is open.
   * @param main entry file. Default: that of the service.
   */
  launch(node?: number, main?: string): Promise<LaunchedService>;
  /** The stores of the processes, for assertions. */
  readonly records: Records;
  readonly blobs: BlobStore;
  /** Stops the processes and removes all files. Idempotent. */
  close(): Promise<void>;
}

export interface SiteOptions {
  /** CONFIG of every process. */
  readonly config: string;
  /** Credits of organization `a`. */
  readonly granted: number;
  /** Added to the environment of every process. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * One machine: SQLite and blobs in a folder.
 * @param options.folder folder owned by the caller. Default: a new folder that `close` removes.
 */
export async function openMachineSite(options: SiteOptions & { folder?: string }): Promise<BatchSite> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'batch-site-')));
  const dataDir = join(folder, 'data');
  return openSite({
    ...options,
    folderOf: () => dataDir,
    env: options.env ?? {},
    database: { kind: 'sqlite', path: join(dataDir, 'service.sqlite') },
    blobs: { kind: 'disk', folder: join(dataDir, 'blobs') },
    close: async () => {
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  });
}

/** Servers that several machines share. */
export interface SharedServers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly s3: S3Server;
  close(): Promise<void>;
}

export async function startSharedServers(): Promise<SharedServers> {
  const [postgres, redis, s3] = await Promise.all([startPostgres(), startRedis(), startS3()]);
  return {
    postgres,
    redis,
    s3,
    async close() {
      for (const server of [postgres, redis, s3]) await server.close();
    },
  };
}

/** Several machines with PostgreSQL, Redis and S3. Each has a separate folder without durable data. */
export async function openSharedSite(servers: SharedServers, options: SiteOptions): Promise<BatchSite> {
  const folder = await mkdtemp(join(tmpdir(), 'batch-site-'));
  const { settings } = await servers.s3.freshBucket();
  const database = await servers.postgres.freshDatabase();
  return openSite({
    ...options,
    folderOf: (node) => join(folder, `node-${node}`),
    env: {
      DATABASE_URL: database,
      REDIS_URL: servers.redis.url,
      S3_ENDPOINT: settings.endpoint,
      S3_BUCKET: settings.bucket,
      S3_REGION: settings.region,
      S3_ACCESS_KEY_ID: settings.accessKeyId,
      S3_SECRET_ACCESS_KEY: settings.secretAccessKey.reveal(),
      ...options.env,
    },
    database: parsePostgresUrl(database),
    blobs: settings,
    close: () => rm(folder, { recursive: true, force: true }),
  });
}

interface SiteParts extends SiteOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly database: DatabaseSettings;
  readonly blobs: BlobSettings;
  folderOf(node: number): string;
  close(): Promise<void>;
}

async function openSite({ config, granted, env, folderOf, ...parts }: SiteParts): Promise<BatchSite> {
  const opened = new AsyncDisposableStack();
  opened.defer(parts.close);
  const records = opened.adopt(await openRecords(parts.database), (it) => it.close());
  const blobs = opened.adopt(await openBlobs(parts.blobs, systemClock), (it) => it.close());
  const amount = parseCredits(`${granted}`);
  if (amount) await creditStore(records).grant('a', amount, unixSeconds(systemClock));
  const launched: LaunchedService[] = [];
  return {
    records,
    blobs,
    async launch(node = 0, main) {
      const service = await launchService({
        config,
        dataDir: folderOf(node),
        until: '/healthz',
        ...(main !== undefined && { main }),
        env: { PLUGINS: 'responses,batch', ...env },
      });
      launched.push(service);
      return service;
    },
    async close() {
      await Promise.all(launched.splice(0).map((service) => service.stop()));
      await opened.disposeAsync();
    },
  };
}
