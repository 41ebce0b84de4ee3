import { join, resolve } from 'node:path';
import { Secret } from '../../contract/core/secret.ts';
import type { BlobSettings, DatabaseSettings } from '../../contract/core/settings.ts';
import { PostgresUrlError, parsePostgresUrl } from '../../kit/validation/postgres-url.ts';
import { ConfigError } from '../config-error.ts';
import { choiceVariable, type Environment, readVariables, textVariable } from '../variable.ts';

const DEFAULT_REGION = 'us-east-1';

const DATA = {
  dataDir: textVariable('DATA_DIR', {
    default: 'data',
    fallback: './data',
    meaning: 'folder for all data that the service stores on disk',
  }),
  databaseUrl: textVariable('DATABASE_URL', {
    fallback: 'SQLite under DATA_DIR',
    meaning: '`postgres://user:password@host:5432/database`: records in PostgreSQL, shared by several nodes',
  }),
  redisUrl: textVariable('REDIS_URL', {
    meaning:
      '`redis://…`: rate limits and the job queue (batches, voices, videos) in Redis, shared by several nodes',
  }),
  runJobs: choiceVariable('RUN_JOBS', {
    values: ['on', 'off'],
    default: 'on',
    meaning: '`off` leaves jobs to other nodes with the same DATABASE_URL',
  }),
};

const BUCKET = {
  endpoint: textVariable('S3_ENDPOINT', {
    meaning:
      '`https://host` of an S3-compatible server: files, voice clips and videos are stored there instead of under DATA_DIR; requires the bucket and both keys',
  }),
  bucket: textVariable('S3_BUCKET', { meaning: 'existing bucket used only by this service' }),
  accessKeyId: textVariable('S3_ACCESS_KEY_ID', {
    meaning: 'access key with permission to list, read, write and delete in the bucket',
  }),
  secretAccessKey: textVariable('S3_SECRET_ACCESS_KEY', { meaning: 'secret of the access key' }),
};
const REGION = {
  region: textVariable('S3_REGION', { fallback: DEFAULT_REGION, meaning: 'region used to sign requests' }),
};

export const STORAGE_VARIABLES = [DATA, BUCKET, REGION];

/** Where the service stores its data. */
export function storageSettings(environment: Environment) {
  const { dataDir: written, databaseUrl, redisUrl, runJobs } = readVariables(DATA, environment);
  const dataDir = resolve(written);
  return {
    dataDir,
    /** Redis shared by several machines; undefined on a single machine. */
    redisUrl: redisSecret(redisUrl),
    /** False if jobs run on other machines only. */
    runsJobs: runsJobs(runJobs, databaseUrl),
    /** Database of keys, usage, credits, responses, batches, voices and videos. */
    database: databaseSettings(databaseUrl, dataDir),
    /** Storage of file contents. */
    blobs: blobSettings(environment, dataDir),
  };
}

function databaseSettings(url: string | undefined, dataDir: string): DatabaseSettings {
  if (url === undefined) return Object.freeze({ kind: 'sqlite', path: join(dataDir, 'service.sqlite') });
  try {
    return parsePostgresUrl(url);
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error;
    throw new ConfigError(`Environment variable DATABASE_URL ${error.message}.`);
  }
}

/** @throws ConfigError for an invalid Redis address. */
function redisSecret(url: string | undefined): Secret | undefined {
  if (url === undefined) return undefined;
  const { protocol, hostname } = URL.parse(url) ?? {};
  if ((protocol === 'redis:' || protocol === 'rediss:') && hostname) return new Secret(url);
  throw new ConfigError('Environment variable REDIS_URL must be redis://host:port, or rediss:// with TLS.');
}

function runsJobs(written: 'on' | 'off', databaseUrl: string | undefined): boolean {
  if (written === 'on') return true;
  if (databaseUrl !== undefined) return false;
  throw new ConfigError('RUN_JOBS=off requires DATABASE_URL, so that other machines can run the jobs.');
}

/**
 * Requires all bucket settings or none: with only some of them, files would be stored in an unexpected place.
 */
function blobSettings(environment: Environment, dataDir: string): BlobSettings {
  const given = readVariables(BUCKET, environment);
  const { region } = readVariables(REGION, environment);
  const { endpoint, bucket, accessKeyId, secretAccessKey } = given;
  if (endpoint && bucket && accessKeyId && secretAccessKey) {
    return Object.freeze({
      kind: 's3',
      endpoint: s3Endpoint(endpoint),
      bucket: s3Bucket(bucket),
      region: region ?? DEFAULT_REGION,
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
    });
  }
  const all = Object.entries(BUCKET);
  const missing = all.flatMap(([key, { name }]) =>
    given[key as keyof typeof BUCKET] === undefined ? [name] : [],
  );
  if (missing.length === all.length && region === undefined) {
    return Object.freeze({ kind: 'disk', folder: join(dataDir, 'blobs') });
  }
  throw new ConfigError(`Environment variable ${missing.join(' and ')} is missing: required for S3 storage.`);
}

/** @throws ConfigError for an invalid server address. */
function s3Endpoint(text: string): string {
  const { protocol, host, pathname, search, username } = URL.parse(text) ?? {};
  const isPlain = (protocol === 'https:' || protocol === 'http:') && host && pathname === '/' && !search;
  if (isPlain && !username) return `${protocol}//${host}`;
  throw new ConfigError('Environment variable S3_ENDPOINT must be https://host or http://host:port.');
}

/** @throws ConfigError for an invalid bucket name. */
function s3Bucket(name: string): string {
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) return name;
  throw new ConfigError(
    'Environment variable S3_BUCKET must be 3 to 63 of a-z 0-9 . - and begin and end with a letter or a digit.',
  );
}
