import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../tools/harness/servers/postgres.ts';
import { startRedis } from '../../tools/harness/servers/redis.ts';
import { type S3Bucket, startS3 } from '../../tools/harness/servers/s3.ts';
import { chromiumOptions } from '../harness/chromium.ts';
import { embedded, type GroupService, keysOfFile, scripted } from './group-services.ts';

/**
 * Servers that all files of a group of tests share: the service, PostgreSQL, Redis, an S3 server and Chromium. vitest's main process
 * starts them when the first file requests them (`test/harness/group-servers.ts`), and stops them after the last file.
 */

declare module 'vitest' {
  export interface ProvidedContext {
    /** Origin of the HTTP server that runs the {@link Operations}. */
    groupServers: string;
  }
}

/** vitest's `globalSetup`. Returns the teardown. */
export default function setup(project: TestProject): () => Promise<void> {
  const open = new AsyncDisposableStack();
  const operations = groupOperations(open);
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      if (!isOperation(name, operations)) return new Response(`unknown operation ${name}`, { status: 404 });
      try {
        const run = operations[name] as (input: unknown) => Promise<unknown>;
        return Response.json(await run(await request.json()));
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
  });
  project.provide('groupServers', listener.url.origin);
  return async () => {
    await listener.stop(true);
    await open.disposeAsync();
  };
}

export type Operations = ReturnType<typeof groupOperations>;

function isOperation(name: string, operations: Operations): name is keyof Operations {
  return Object.hasOwn(operations, name);
}

/** @param open receives the servers; its owner closes them. */
function groupOperations(open: AsyncDisposableStack) {
  /** Starts a server when it is first needed, and again if it has exited. */
  const once = <Server>(
    start: () => Promise<Server>,
    close: (server: Server) => Promise<void>,
    hasExited: (server: Server) => boolean = () => false,
  ) => {
    let server: Promise<Server> | undefined;
    const startOne = () => {
      const started = start();
      open.defer(() => started.then(close, () => undefined));
      return started;
    };
    return async () => {
      server ??= startOne();
      const current = server;
      if (!hasExited(await current)) return current;
      // Another file may have started one in the meantime.
      if (server === current) server = startOne();
      return server;
    };
  };
  const postgres = once(startPostgres, (server) => server.close());
  const redis = once(startRedis, (server) => server.close());
  const s3 = once(startS3, (server) => server.close());
  const browser = (args: readonly string[]) =>
    once(
      () => chromium.launchServer({ host: '127.0.0.1', ...chromiumOptions(args) }),
      (server) => server.close(),
    );
  /** By their arguments. */
  const browsers = new Map<string, ReturnType<typeof browser>>();
  const service = (start: () => Promise<GroupService>) =>
    once(
      start,
      ({ close }) => close(),
      ({ hasExited }) => hasExited(),
    );
  const services = { embedded: service(embedded), scripted: service(scripted) };
  type GroupServiceName = keyof typeof services;
  let files = 0;
  let redisDatabases = 0;
  const buckets = new Map<string, S3Bucket>();
  return {
    async postgres() {
      const { port, password, certificateFile } = await postgres();
      return { port, password, certificateFile };
    },
    freshDatabase: async () => (await postgres()).freshDatabase(),
    /** URL of an empty database of Redis. */
    async freshRedis() {
      const { url } = await redis();
      return `${url}/${redisDatabases++}`;
    },
    async freshBucket() {
      const bucket = await (await s3()).freshBucket();
      const { secretAccessKey, ...settings } = bucket.settings;
      buckets.set(settings.bucket, bucket);
      return { ...settings, secretAccessKey: secretAccessKey.reveal() };
    },
    /** @param name of a bucket of {@link freshBucket}. */
    async heldBytes(name: string) {
      const bucket = buckets.get(name);
      if (bucket === undefined) throw new Error(`unknown bucket ${name}`);
      return bucket.heldBytes();
    },
    async browser(args: readonly string[]) {
      const name = args.join(' ');
      const started = browsers.get(name) ?? browser(args);
      browsers.set(name, started);
      return (await started()).wsEndpoint();
    },
    /** A service, with keys of organizations that no other file has. */
    async service(name: GroupServiceName) {
      const { baseUrl, tls } = await services[name]();
      const keys = keysOfFile(files++);
      return { baseUrl, tls, keys };
    },
    /** What a service has printed so far. */
    serviceOutput: async (name: GroupServiceName) => (await services[name]()).output(),
  };
}
