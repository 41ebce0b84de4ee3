import { type Browser, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { Secret } from '../../src/contract/core/secret.ts';
import type { PostgresServer } from '../../tools/harness/servers/postgres.ts';
import type { S3Bucket } from '../../tools/harness/servers/s3.ts';
import type { Operations } from '../setup/group-servers.ts';
import { chromiumOptions } from './chromium.ts';

/**
 * Servers that all files of a group of tests share (`test/setup/group-servers.ts`). Each file has its own databases, buckets and
 * contexts of the browser. A file that stops a server, or reads what it does for others, starts its own
 * (`tools/harness/servers`).
 */

/** PostgreSQL. */
export async function groupPostgres(): Promise<
  Pick<PostgresServer, 'port' | 'password' | 'certificateFile' | 'freshDatabase'>
> {
  return { ...(await call('postgres')), freshDatabase: () => call('freshDatabase') };
}

/** URL of an empty database of Redis. */
export const freshRedis = () => call('freshRedis');

/** An empty bucket of the S3 server. */
export async function freshBucket(): Promise<S3Bucket> {
  const { secretAccessKey, ...settings } = await call('freshBucket');
  return {
    settings: { ...settings, secretAccessKey: new Secret(secretAccessKey) },
    heldBytes: async () => (await call('heldBytes', settings.bucket)) ?? 0,
  };
}

/**
 * A browser; the caller closes it. Files of a group share one process, and close only their own contexts.
 * @param args command-line arguments. With any, the caller has a process of its own.
 */
export async function openChromium(args: readonly string[] = []): Promise<Browser> {
  if (args.length > 0) return chromium.launch(chromiumOptions(args));
  return chromium.connect(await call('browser'));
}

type Input<Name extends keyof Operations> = Parameters<Operations[Name]>;
type Output<Name extends keyof Operations> = Awaited<ReturnType<Operations[Name]>>;

/** @throws Error with the message of the operation that failed. */
async function call<Name extends keyof Operations>(
  name: Name,
  ...[input]: Input<Name>
): Promise<Output<Name>> {
  const body = JSON.stringify(input ?? null);
  const response = await fetch(`${inject('groupServers')}/${name}`, { method: 'POST', body });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return (await response.json()) as Output<Name>;
}
