import { type Browser, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { Secret } from '../../src/contract/core/secret.ts';
import type { PostgresServer } from '../../tools/harness/servers/postgres.ts';
import type { S3Bucket } from '../../tools/harness/servers/s3.ts';
import { type ServiceAccess, serviceAccess } from '../../tools/harness/services/launcher.ts';
import type { RealtimeAccess } from '../../tools/harness/services/realtime-service.ts';
import type { Operations } from '../setup/group-servers.ts';

/**
 * Servers that all files of a group of tests share (`test/setup/group-servers.ts`). Each file has its own databases, buckets and
 * contexts of the browser. A file that stops a server, or reads what it does for others, starts its own
 * (`tools/harness/servers`).
 */

/** A service that other files use at the same time. Its log has their lines too. */
export interface GroupServiceAccess extends ServiceAccess {
  /** Keys of four organizations that no other file has; the first two are `key` and `otherKey`. */
  readonly keys: readonly string[];
  /** What the service has printed so far. */
  output(): Promise<string>;
}

/** The service whose upstream servers have known responses. */
export async function scriptedService(): Promise<GroupServiceAccess> {
  return accessTo('scripted', await call('service', 'scripted'));
}

/** The service with the default models, and with Piper as `svc-tts-fast`. */
export async function embeddedService(): Promise<GroupServiceAccess & RealtimeAccess> {
  const started = await call('service', 'embedded');
  if (started.tls === undefined) throw new Error('the service does not listen with TLS');
  return {
    ...accessTo('embedded', started),
    tlsUrl: started.tls.url,
    certificate: started.tls.certificate,
    socketUrl: `${started.baseUrl.replace('http', 'ws')}/v1/realtime`,
  };
}

function accessTo(
  name: 'scripted' | 'embedded',
  { baseUrl, keys }: { readonly baseUrl: string; readonly keys: readonly string[] },
): GroupServiceAccess {
  const [key = '', otherKey = ''] = keys;
  return { ...serviceAccess(baseUrl, key, otherKey), keys, output: () => call('serviceOutput', name) };
}

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
    heldBytes: () => call('heldBytes', settings.bucket),
  };
}

/**
 * A browser; the caller closes it. Files share the process, and close only their own contexts.
 * @param args command-line arguments. Each set of arguments has a process of its own.
 */
export async function openChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.connect(await call('browser', args));
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
