import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFAULT_HUB_ENDPOINT, type HubSettings } from '../../models/hub-reference.ts';
import type { LimitSettings } from '../contract/accounts/limits.ts';
import type { Price } from '../contract/accounts/prices.ts';
import { Secret } from '../contract/core/secret.ts';
import type {
  BlobSettings,
  CodeInterpreterSettings,
  ConversationModels,
  DatabaseSettings,
  EmbedModels,
  InferenceSettings,
  OrtProvider,
  SttModels,
  TextModels,
  TracingSettings,
  TtsModels,
  VideoModels,
  WebSearchSettings,
} from '../contract/core/settings.ts';
import type { ModelEngine } from '../contract/model-table.ts';
import type { LexiconEntry } from '../contract/stores/lexicon-store.ts';
import { hashApiKey, MAX_KEY_CHARACTERS, SAFE_KEY_CHARACTERS } from '../kit/keys/api-key.ts';
import { type NetworkRange, parseRange } from '../kit/validation/network-address.ts';
import { PostgresUrlError, parsePostgresUrl } from '../kit/validation/postgres-url.ts';
import {
  ConfigError,
  type ConfigFileContent,
  ignoredKeys,
  parseLexicon,
  parseModels,
  parsePrices,
  parseTools,
  readConfigFile,
} from './file.ts';

export { ConfigError } from './file.ts';

/** A key of `API_KEYS`. Only its hash is stored. */
export interface FixedKey {
  readonly keyHash: string;
  readonly organization: string;
  /** Whether the key has fewer than {@link SAFE_KEY_CHARACTERS} characters. */
  readonly isShort: boolean;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** All settings, frozen at startup. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Separate port for `/metrics`; undefined serves it on the main port. */
  readonly metricsPort: number | undefined;
  /** Additional TLS listener; undefined disables it. */
  readonly tls: TlsSettings | undefined;
  readonly http: HttpSettings;
  /** Time after SIGTERM during which `/readyz` returns 503 and requests are still accepted. */
  readonly shutdownDrainMs: number;
  /** Time after that for running work to finish. */
  readonly shutdownGraceMs: number;
  readonly logLevel: LogLevel;
  /** Whether npm or npx started this process, according to the variables that npm sets. */
  readonly startedByNpm: boolean;
  readonly apiKeys: readonly FixedKey[];
  /** Organizations whose admin keys can enable and disable plugins of the whole service. */
  readonly operators: readonly string[];
  readonly dataDir: string;
  /** Database of keys, usage, credits, responses, batches, voices and videos. */
  readonly database: DatabaseSettings;
  /** Storage of file contents. */
  readonly blobs: BlobSettings;
  readonly modelsDir: string;
  /** Server of weights `hf:…`. */
  readonly hub: HubSettings;
  /** Plugins to load; undefined means all. */
  readonly plugins: readonly string[] | undefined;
  /** Ids of all models, in the order of CONFIG. */
  readonly modelIds: readonly string[];
  /** Ids of models with `required = true`: `/readyz` is 503 while one of them is unavailable. */
  readonly requiredModels: ReadonlySet<string>;
  /** What is behind each model, by id. */
  readonly modelEngines: ReadonlyMap<string, ModelEngine>;
  /** Models that CONFIG does not define, by id: the model that each follows. */
  readonly modelFollowers: ReadonlyMap<string, string>;
  readonly ttsModels: TtsModels;
  readonly sttModels: SttModels;
  readonly textModels: TextModels;
  readonly embedModels: EmbedModels;
  readonly videoModels: VideoModels;
  readonly conversationModels: ConversationModels;
  readonly inference: InferenceSettings;
  /** Idle time in ms after which a model that was loaded on demand is unloaded; 0 disables unloading. */
  readonly modelIdleMs: number;
  /** Prices; calls without a price are free. */
  readonly prices: readonly Price[];
  /** How words are pronounced, for all organizations. */
  readonly lexicon: readonly LexiconEntry[];
  /** Settings of the code interpreter. */
  readonly codeInterpreter: CodeInterpreterSettings;
  /** Undefined if no search server is configured. */
  readonly webSearch: WebSearchSettings | undefined;
  readonly partner: PartnerSettings;
  /** Keys of CONFIG that this version accepts without effect, such as `voices.fit_seconds`. */
  readonly ignoredKeys: readonly string[];
  readonly video: VideoSettings;
  readonly batch: BatchSettings;
  readonly limits: Limits;
  readonly rateLimits: LimitSettings;
  /** Redis shared by several machines; undefined on a single machine. */
  readonly redisUrl: Secret | undefined;
  /** False if jobs run on other machines only. */
  readonly runsJobs: boolean;
  /** Undefined disables tracing. */
  readonly tracing: TracingSettings | undefined;
}

export interface TlsSettings {
  readonly port: number;
  /** Paths of PEM files. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** Settings for clients of the HTTP API. */
export interface HttpSettings {
  /** Origins of web pages that can call the API, in addition to the service's own; undefined allows any. */
  readonly allowedOrigins: readonly string[] | undefined;
  /** Security contact, a URI for /.well-known/security.txt; undefined for none. */
  readonly securityContact: string | undefined;
  /** Max age of Strict-Transport-Security, in seconds; 0 omits the header. */
  readonly strictTransportSeconds: number;
  /** Maximum number of invalid keys per minute and address that get 401; further ones get 429. */
  readonly invalidKeysPerMinute: number;
  /** Proxies whose `x-forwarded-for` header is trusted. */
  readonly trustedProxies: readonly NetworkRange[];
}

/** Settings of video jobs. */
export interface VideoSettings {
  /** Maximum number of concurrent video jobs. */
  readonly maxConcurrentJobs: number;
}

/** Settings of partner platform calls. */
export interface PartnerSettings {
  /** Silence that ends a turn of the customer, in ms. */
  readonly silenceMs: number;
  /**
   * New audio after which an open turn is transcribed again for a partial result, in ms; 0 disables partial
   * results.
   */
  readonly partialMs: number;
}

/** Settings of batches. */
export interface BatchSettings {
  /** Maximum number of concurrent lines of all batches; the actual number adapts to the load. */
  readonly maxConcurrentLines: number;
  /** Maximum number of concurrent batches; others wait. */
  readonly maxConcurrentBatches: number;
}

/** Default of `max_request_bytes`. */
const REQUEST_BYTES = 8 * 1024 * 1024;
/** Bodies of the maximum size of one key, and of all keys, that are received at the same time by default. */
const BODIES_PER_KEY = 8;
const BODIES_IN_TOTAL = 32;

export interface Limits {
  /** Maximum size of a request body, in bytes. */
  readonly requestBytes: number;
  /** Maximum size of all request bodies that are being received, in bytes. */
  readonly bodies: { readonly bytesPerKey: number; readonly totalBytes: number };
  /** Maximum number of code points of a speech `input`; at most the limit of the specification (8: 5000). */
  readonly speechCharacters: number;
  /** Maximum number of concurrent speech requests per organization. */
  readonly speechRequestsPerOrganization: number;
  /** Maximum size of a file to transcribe, in bytes. */
  readonly transcriptionBytes: number;
  /** Maximum length of audio to transcribe, in seconds. */
  readonly transcriptionSeconds: number;
  /** Maximum number of concurrent transcriptions and translations per organization. */
  readonly transcriptionRequestsPerOrganization: number;
  /** Maximum number of concurrent requests per organization to each of chat, embeddings and responses. */
  readonly textRequestsPerOrganization: number;
  /** Maximum number of concurrent uploads per organization. */
  readonly uploadsPerOrganization: number;
  /** Maximum total size of an organization's files, in bytes. */
  readonly storedBytesPerOrganization: number;
  /** Maximum number of unfinished batches per organization. */
  readonly batchesPerOrganization: number;
  /** Maximum number of concurrent realtime WebSockets per organization. */
  readonly realtimeConnectionsPerOrganization: number;
  /** Maximum number of concurrent partner platform calls per organization. */
  readonly partnerCallsPerOrganization: number;
  /** Maximum size of an uploaded voice clip, in bytes. */
  readonly voiceClipBytes: number;
  /** Maximum number of stored voices per organization. */
  readonly voicesPerOrganization: number;
  /** Maximum number of concurrent video uploads per organization. */
  readonly videoRequestsPerOrganization: number;
  /** Maximum number of unfinished videos per organization. */
  readonly videosPerOrganization: number;
  /** Maximum total size of an organization's videos, in bytes. */
  readonly storedVideoBytesPerOrganization: number;
}

/** A row of the table in docs/guide/configuration.md; `fallback` is the default as the table shows it. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}

/** All environment variables of the service. */
export const ENVIRONMENT = [
  { name: 'HOST', fallback: '127.0.0.1', meaning: 'address to listen on; the container images set 0.0.0.0' },
  { name: 'PORT', fallback: '8080', meaning: 'port to listen on; 0 selects a free port' },
  {
    name: 'API_KEYS',
    fallback: '–',
    meaning:
      '`key:org,key2:org2`, fixed keys; if it is unset and no key is stored, the first start creates a key and prints it once',
  },
  { name: 'DATA_DIR', fallback: './data', meaning: 'folder for all data that the service stores on disk' },
  {
    name: 'MODELS_DIR',
    fallback: '`voice-service/models` in the user’s cache folder',
    meaning: 'folder for model files, shared by checkouts',
  },
  {
    name: 'HF_ENDPOINT',
    fallback: DEFAULT_HUB_ENDPOINT.replace('https://', ''),
    meaning: '`https://host` of the model hub for weights `hf:…`',
  },
  {
    name: 'HF_TOKEN',
    fallback: '–',
    meaning: 'access token of the model hub, for repositories that require one',
  },
  { name: 'PLUGINS', fallback: 'all', meaning: 'comma-separated list of the plugins to load' },
  {
    name: 'DATABASE_URL',
    fallback: 'SQLite under DATA_DIR',
    meaning: '`postgres://user:password@host:5432/database`: records in PostgreSQL, shared by several nodes',
  },
  {
    name: 'REDIS_URL',
    fallback: '–',
    meaning:
      '`redis://…`: rate limits and the job queue (batches, voices, videos) in Redis, shared by several nodes',
  },
  {
    name: 'RUN_JOBS',
    fallback: 'on',
    meaning: '`off` leaves jobs to other nodes with the same DATABASE_URL',
  },
  {
    name: 'S3_ENDPOINT',
    fallback: '–',
    meaning:
      '`https://host` of an S3-compatible server: files, voice clips and videos are stored there instead of under DATA_DIR; requires the bucket and both keys',
  },
  { name: 'S3_BUCKET', fallback: '–', meaning: 'existing bucket used only by this service' },
  { name: 'S3_REGION', fallback: 'us-east-1', meaning: 'region used to sign requests' },
  {
    name: 'S3_ACCESS_KEY_ID',
    fallback: '–',
    meaning: 'access key with permission to list, read, write and delete in the bucket',
  },
  { name: 'S3_SECRET_ACCESS_KEY', fallback: '–', meaning: 'secret of the access key' },
  {
    name: 'ORT_PROVIDER',
    fallback: 'cpu',
    meaning: '`cpu` or `cuda`: ONNX Runtime provider for embedded models',
  },
  {
    name: 'CONFIG',
    fallback: './service.toml if it exists',
    meaning: 'TOML file with models, inference, limits and prices',
  },
  {
    name: 'METRICS_PORT',
    fallback: 'the main port',
    meaning: 'separate port for /metrics, on the same HOST',
  },
  {
    name: 'TLS_CERT_FILE',
    fallback: '–',
    meaning:
      'PEM file with the certificate chain; with TLS_KEY_FILE, enables a TLS listener on the same HOST',
  },
  { name: 'TLS_KEY_FILE', fallback: '–', meaning: 'PEM file with the private key' },
  { name: 'TLS_PORT', fallback: '8443', meaning: 'port of the TLS listener; 0 selects a free port' },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: '–',
    meaning:
      '`http://host:4318` of an OpenTelemetry collector that receives traces as OTLP over HTTP; tracing is off without it',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: '–',
    meaning: '`name=value,name2=value2`: additional headers for the collector, percent-encoded',
  },
  { name: 'OTEL_SERVICE_NAME', fallback: 'voice-service', meaning: 'service name in traces' },
  { name: 'OTEL_TRACES_SAMPLER_ARG', fallback: '1', meaning: 'trace sampling ratio, 0 to 1' },
  {
    name: 'SHUTDOWN_DRAIN_MS',
    fallback: '0',
    meaning: 'time after SIGTERM, in ms, during which `/readyz` returns 503 but requests are still accepted',
  },
  {
    name: 'SHUTDOWN_GRACE_MS',
    fallback: '30000',
    meaning: 'maximum time after that, in ms, for running requests to finish',
  },
  { name: 'LOG_LEVEL', fallback: 'info', meaning: '`debug`, `info`, `warn`, `error` or `silent`' },
] as const satisfies readonly EnvironmentVariable[];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment and the file that `CONFIG` names.
 * @throws ConfigError for unknown names, wrong types and values out of range. The message never contains
 *   values, because they can be keys.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const env = new EnvironmentReader(environment);
  const file = readConfigFile(env.text('CONFIG'));
  const cores = availableParallelism();
  const queueLimit = file.inference?.queue_limit ?? 256;
  const workers = file.inference?.workers ?? Math.max(1, Math.floor(cores / 4));
  const dataDir = resolve(env.text('DATA_DIR') ?? 'data');
  const {
    ids: modelIds,
    required: requiredModels,
    engines: modelEngines,
    followers: modelFollowers,
    pricedAs,
    tts: ttsModels,
    stt: sttModels,
    text: textModels,
    embed: embedModels,
    video: videoModels,
    conversation: conversationModels,
  } = parseModels(file, (name) => env.text(name));
  // Half of the slots, so that one organization cannot use all of them.
  const placesOfOne = Math.ceil(queueLimit / 2);
  return Object.freeze({
    host: env.text('HOST') ?? '127.0.0.1',
    port: env.integer('PORT', 0, 65_535) ?? 8080,
    metricsPort: env.integer('METRICS_PORT', 0, 65_535),
    tls: tlsSettings(env),
    http: httpSettings(file),
    rateLimits: rateLimits(file),
    redisUrl: redisUrl(env),
    runsJobs: runsJobs(env),
    tracing: tracingSettings(env),
    shutdownDrainMs: env.integer('SHUTDOWN_DRAIN_MS', 0, 3_600_000) ?? 0,
    shutdownGraceMs: env.integer('SHUTDOWN_GRACE_MS', 0, 3_600_000) ?? 30_000,
    logLevel: env.choice<LogLevel>('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent']) ?? 'info',
    startedByNpm: /np[mx]-cli\.js$/.test(env.text('npm_execpath') ?? ''),
    apiKeys: parseApiKeys(env.text('API_KEYS')),
    operators: Object.freeze(file.operators ?? ['default']),
    dataDir,
    database: databaseSettings(env, dataDir),
    blobs: blobSettings(env, dataDir),
    modelsDir: resolve(env.text('MODELS_DIR') ?? join(userCache(env), 'voice-service', 'models')),
    hub: hubSettings(env),
    plugins: parsePlugins(env.text('PLUGINS')),
    modelIds,
    requiredModels,
    modelEngines,
    modelFollowers,
    ttsModels,
    sttModels,
    textModels,
    embedModels,
    videoModels,
    conversationModels,
    inference: Object.freeze({
      provider: env.choice<OrtProvider>('ORT_PROVIDER', ['cpu', 'cuda']) ?? 'cpu',
      workers,
      threads: file.inference?.threads ?? Math.min(4, Math.max(1, Math.floor(cores / workers))),
      queueLimit,
      environment: Object.freeze(libraryEnvironment(environment)),
    }),
    modelIdleMs: (file.inference?.model_idle_seconds ?? 1800) * 1000,
    prices: parsePrices(file, modelIds, pricedAs),
    lexicon: parseLexicon(file),
    ...parseTools(file, (name) => env.text(name)),
    partner: Object.freeze({
      silenceMs: file.partner?.silence_ms ?? 350,
      partialMs: file.partner?.partial_ms ?? 700,
    }),
    ignoredKeys: Object.freeze(ignoredKeys(file)),
    video: Object.freeze({ maxConcurrentJobs: file.video?.max_concurrent_jobs ?? 1 }),
    batch: Object.freeze({
      maxConcurrentLines: file.batch?.max_concurrent_lines ?? 64,
      maxConcurrentBatches: file.batch?.max_concurrent_batches ?? 8,
    }),
    limits: Object.freeze({
      requestBytes: file.limits?.max_request_bytes ?? REQUEST_BYTES,
      bodies: bodyLimits(file),
      speechCharacters: file.limits?.speech_max_characters ?? 5000,
      speechRequestsPerOrganization: file.limits?.speech_requests_per_organization ?? placesOfOne,
      transcriptionBytes: file.limits?.transcription_max_bytes ?? 25 * 1024 * 1024,
      transcriptionSeconds: file.limits?.transcription_max_seconds ?? 7200,
      transcriptionRequestsPerOrganization:
        file.limits?.transcription_requests_per_organization ?? placesOfOne,
      textRequestsPerOrganization: file.limits?.text_requests_per_organization ?? placesOfOne,
      uploadsPerOrganization: file.limits?.uploads_per_organization ?? 32,
      storedBytesPerOrganization: file.limits?.stored_bytes_per_organization ?? 10 * 1024 ** 3,
      batchesPerOrganization: file.limits?.batches_per_organization ?? 100,
      realtimeConnectionsPerOrganization: file.limits?.realtime_connections_per_organization ?? 10_000,
      partnerCallsPerOrganization: file.limits?.partner_calls_per_organization ?? 1000,
      voiceClipBytes: file.limits?.voice_clip_max_bytes ?? 20 * 1024 * 1024,
      voicesPerOrganization: file.limits?.voices_per_organization ?? 100,
      videoRequestsPerOrganization: file.limits?.video_requests_per_organization ?? 16,
      videosPerOrganization: file.limits?.videos_per_organization ?? 100,
      storedVideoBytesPerOrganization: file.limits?.stored_video_bytes_per_organization ?? 10 * 1024 ** 3,
    }),
  });
}

/** Typed access to environment variables; an empty variable counts as not set. */
class EnvironmentReader {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(variable: string): string | undefined {
    return this.#environment[variable]?.trim() || undefined;
  }

  integer(variable: string, minimum: number, maximum: number): number | undefined {
    const text = this.text(variable);
    if (text === undefined) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new ConfigError(
      `Environment variable ${variable} must be an integer from ${minimum} to ${maximum}.`,
    );
  }

  /** Returns a number from 0 to 1. */
  share(variable: string): number | undefined {
    const text = this.text(variable);
    if (text === undefined) return undefined;
    const value = /^[01]?(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 0 && value <= 1) return value;
    throw new ConfigError(`Environment variable ${variable} must be a number from 0 to 1.`);
  }

  choice<T extends string>(variable: string, values: readonly T[]): T | undefined {
    const text = this.text(variable);
    if (text === undefined) return undefined;
    const value = values.find((candidate) => candidate === text);
    if (value !== undefined) return value;
    throw new ConfigError(`Environment variable ${variable} must be one of ${values.join(', ')}.`);
  }
}

/** Requires both files or none: with only one, clients could not connect over TLS as intended. */
function tlsSettings(env: EnvironmentReader): TlsSettings | undefined {
  const certFile = env.text('TLS_CERT_FILE');
  const keyFile = env.text('TLS_KEY_FILE');
  const port = env.integer('TLS_PORT', 0, 65_535);
  if (certFile !== undefined && keyFile !== undefined) {
    return Object.freeze({ port: port ?? 8443, certFile: resolve(certFile), keyFile: resolve(keyFile) });
  }
  const given = Object.entries({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_PORT: port })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (given.length === 0) return undefined;
  throw new ConfigError(
    `Environment variable ${given.join(' and ')} is set, but TLS requires both TLS_CERT_FILE and TLS_KEY_FILE.`,
  );
}

function tracingSettings(env: EnvironmentReader): TracingSettings | undefined {
  const endpoint = env.text('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === undefined) return undefined;
  const { protocol, username, search, hash, href } = URL.parse(endpoint) ?? {};
  if (!(protocol === 'http:' || protocol === 'https:') || username || search || hash || href === undefined) {
    throw new ConfigError(
      'Environment variable OTEL_EXPORTER_OTLP_ENDPOINT must be http://host:port or https://host, optionally with a path.',
    );
  }
  return Object.freeze({
    url: `${href.replace(/\/+$/, '')}/v1/traces`,
    headers: tracingHeaders(env.text('OTEL_EXPORTER_OTLP_HEADERS')),
    serviceName: env.text('OTEL_SERVICE_NAME') ?? 'voice-service',
    ratio: env.share('OTEL_TRACES_SAMPLER_ARG') ?? 1,
  });
}

/** @throws ConfigError for an invalid header list; values are not shown, because they can be keys. */
function tracingHeaders(text: string | undefined): ReadonlyMap<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const [index, item] of (text?.split(',') ?? []).entries()) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
    try {
      if (name === undefined || value === undefined) throw new URIError();
      headers.set(name.toLowerCase(), new Secret(decodeURIComponent(value)));
    } catch {
      throw new ConfigError(
        `Environment variable OTEL_EXPORTER_OTLP_HEADERS, entry ${index + 1}: must be name=value, percent-encoded.`,
      );
    }
  }
  return headers;
}

function databaseSettings(env: EnvironmentReader, dataDir: string): DatabaseSettings {
  const url = env.text('DATABASE_URL');
  if (url === undefined) return Object.freeze({ kind: 'sqlite', path: join(dataDir, 'service.sqlite') });
  try {
    return parsePostgresUrl(url);
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error;
    throw new ConfigError(`Environment variable DATABASE_URL ${error.message}.`);
  }
}

/**
 * Requires all bucket settings or none: with only some of them, files would be stored in an unexpected place.
 */
function blobSettings(env: EnvironmentReader, dataDir: string): BlobSettings {
  const given = {
    S3_ENDPOINT: env.text('S3_ENDPOINT'),
    S3_BUCKET: env.text('S3_BUCKET'),
    S3_ACCESS_KEY_ID: env.text('S3_ACCESS_KEY_ID'),
    S3_SECRET_ACCESS_KEY: env.text('S3_SECRET_ACCESS_KEY'),
  };
  const region = env.text('S3_REGION');
  const {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secret,
  } = given;
  if (endpoint && bucket && accessKeyId && secret) {
    return Object.freeze({
      kind: 's3',
      endpoint: s3Endpoint(endpoint),
      bucket: s3Bucket(bucket),
      region: region ?? 'us-east-1',
      accessKeyId,
      secretAccessKey: new Secret(secret),
    });
  }
  const missing = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length === Object.keys(given).length && region === undefined) {
    return Object.freeze({ kind: 'disk', folder: join(dataDir, 'blobs') });
  }
  throw new ConfigError(`Environment variable ${missing.join(' and ')} is missing: required for S3 storage.`);
}

/** @throws ConfigError for an invalid server address. */
function hubSettings(env: EnvironmentReader): HubSettings {
  const endpoint = env.text('HF_ENDPOINT') ?? DEFAULT_HUB_ENDPOINT;
  const { protocol, host, search, username } = URL.parse(endpoint) ?? {};
  if (!(protocol === 'https:' || protocol === 'http:') || !host || search || username) {
    throw new ConfigError('Environment variable HF_ENDPOINT must be https://host or http://host:port.');
  }
  const token = env.text('HF_TOKEN');
  return Object.freeze({
    endpoint: endpoint.replace(/\/+$/, ''),
    token: token === undefined ? undefined : new Secret(token),
  });
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

function runsJobs(env: EnvironmentReader): boolean {
  if (env.choice('RUN_JOBS', ['on', 'off']) !== 'off') return true;
  if (env.text('DATABASE_URL') !== undefined) return false;
  throw new ConfigError('RUN_JOBS=off requires DATABASE_URL, so that other machines can run the jobs.');
}

/** @throws ConfigError for an invalid Redis address. */
function redisUrl(env: EnvironmentReader): Secret | undefined {
  const url = env.text('REDIS_URL');
  if (url === undefined) return undefined;
  const { protocol, hostname } = URL.parse(url) ?? {};
  if ((protocol === 'redis:' || protocol === 'rediss:') && hostname) return new Secret(url);
  throw new ConfigError('Environment variable REDIS_URL must be redis://host:port, or rediss:// with TLS.');
}

/** @throws ConfigError for an invalid origin, contact address or address range. */
function httpSettings({ http, path }: ConfigFileContent): HttpSettings {
  const strange = (http?.allowed_origins ?? []).findIndex((text) => !isOrigin(text));
  if (strange >= 0) {
    throw new ConfigError(
      `${path}: 'http.allowed_origins.${strange}' must be an origin as sent by browsers, such as "https://app.example" or "http://localhost:5173": lower case, without path, wildcard, user or default port.`,
    );
  }
  const securityContact = http?.security_contact;
  if (securityContact !== undefined && !CONTACT.test(securityContact)) {
    throw new ConfigError(
      `${path}: 'http.security_contact' must be an address such as "mailto:security@company.example", "https://company.example/security" or "tel:+1-201-555-0123".`,
    );
  }
  const trustedProxies = (http?.trusted_proxies ?? []).map((text, index) => {
    const range = parseRange(text);
    if (range !== undefined) return range;
    throw new ConfigError(
      `${path}: 'http.trusted_proxies.${index}' must be an address or a range such as "10.0.0.0/8".`,
    );
  });
  return Object.freeze({
    allowedOrigins: http?.allowed_origins,
    securityContact,
    strictTransportSeconds: http?.strict_transport_seconds ?? 0,
    invalidKeysPerMinute: http?.invalid_keys_per_minute ?? 600,
    trustedProxies: Object.freeze(trustedProxies),
  });
}

/** A contact URI according to RFC 9116, section 2.5.3, on one line. */
const CONTACT = /^(mailto:[!-~]+@[!-~]+|https:\/\/[!-~]+|tel:[+\d().-]+)$/;

/** Whether an origin is in the form that browsers send; other forms would never match. */
function isOrigin(text: string): boolean {
  const { protocol, host } = URL.parse(text) ?? {};
  return Boolean(host) && !text.includes('*') && text === `${protocol}//${host}`;
}

function rateLimits(file: ConfigFileContent): LimitSettings {
  const limits = file.rate_limits;
  return Object.freeze({
    requestsPerMinute: {
      key: limits?.requests_per_minute_per_key,
      organization: limits?.requests_per_minute_per_organization,
    },
    concurrentCalls: {
      key: limits?.concurrent_calls_per_key,
      organization: limits?.concurrent_calls_per_organization,
    },
  });
}

/** Parses `key:org,key2:org2`. The organization follows the last colon, because keys can contain colons. */
function parseApiKeys(text: string | undefined): readonly FixedKey[] {
  const keys = new Map<string, FixedKey>();
  for (const [index, item] of (text?.split(',') ?? []).entries()) {
    const match = /^([!-~]+):([A-Za-z0-9._-]{1,64})$/.exec(item.trim());
    const key = match?.[1];
    const organization = match?.[2];
    // Other characters cannot be sent in a header, or not consistently by all clients.
    if (key === undefined || organization === undefined || key.length > MAX_KEY_CHARACTERS) {
      throw new ConfigError(
        `Environment variable API_KEYS, entry ${index + 1}: must be key:organization, where the key is 1 to ${MAX_KEY_CHARACTERS} printable ASCII characters except space and comma, and the organization is 1 to 64 of A-Z a-z 0-9 . _ -`,
      );
    }
    const keyHash = hashApiKey(key);
    if (keys.has(keyHash)) {
      throw new ConfigError(`Environment variable API_KEYS, entry ${index + 1}: duplicate key.`);
    }
    keys.set(keyHash, { keyHash, organization, isShort: key.length < SAFE_KEY_CHARACTERS });
  }
  return Object.freeze([...keys.values()]);
}

/** The registry checks the names against the available plugins. */
function parsePlugins(text: string | undefined): readonly string[] | undefined {
  if (text === undefined || text === 'all') return undefined;
  return text.split(',').map((item) => item.trim());
}

/**
 * Variables that the runtime, ONNX, CUDA and the C library read, except those whose name suggests a secret.
 */
const FOR_LIBRARIES =
  /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|LD_PRELOAD|DYLD_\w+|XDG_CACHE_HOME|MALLOC_\w+|BUN_\w+|(CUDA|CUDNN|NVIDIA|NV|ORT|OMP|KMP|GOMP|MKL)_\w+)$/;
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL/i;

/** Returns the environment of inference processes: an allow list, so that they do not receive keys. */
function libraryEnvironment(environment: Environment): Record<string, string> {
  const entries = Object.entries(environment).filter(
    ([name, value]) => value?.trim() && FOR_LIBRARIES.test(name) && !SECRET.test(name),
  );
  return Object.fromEntries(entries.map(([name, value = '']) => [name, value]));
}

function userCache(env: EnvironmentReader): string {
  return env.text('XDG_CACHE_HOME') ?? join(homedir(), '.cache');
}

/** A body of the maximum size always fits. */
function bodyLimits({ limits }: { readonly limits?: FileLimits | undefined }): Limits['bodies'] {
  const requestBytes = limits?.max_request_bytes ?? REQUEST_BYTES;
  const bytesPerKey = Math.max(requestBytes, limits?.body_bytes_per_key ?? BODIES_PER_KEY * requestBytes);
  return {
    bytesPerKey,
    totalBytes: Math.max(requestBytes, limits?.body_bytes_total ?? BODIES_IN_TOTAL * requestBytes),
  };
}

interface FileLimits {
  readonly max_request_bytes?: number;
  readonly body_bytes_per_key?: number;
  readonly body_bytes_total?: number;
}
