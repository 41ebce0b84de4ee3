import { readFileSync } from 'node:fs';
import type { AnyElysia } from 'elysia';
import packageJson from '../package.json' with { type: 'json' };
import { openBlobs } from '../src/blobs/open-blobs.ts';
import type { ApiKeyStore } from '../src/contract/accounts/api-key.ts';
import type { Clock } from '../src/contract/core/clock.ts';
import { StartError } from '../src/contract/core/error.ts';
import type { Logger } from '../src/contract/core/logger.ts';
import type { Metrics } from '../src/contract/core/metrics.ts';
import type { ModelFiles } from '../src/contract/model-table.ts';
import type { ServiceProvider, Slots } from '../src/contract/plugin.ts';
import { STORAGE_PLACES, type StoragePlace } from '../src/contract/stores/storage-health.ts';
import { toErrorResponse, toServiceError } from '../src/http/response/error-body.ts';
import { CONSOLE_FOLDER } from '../src/http/routes/console.ts';
import { metricsPort } from '../src/http/routes/metrics.ts';
import type { ServingPhase } from '../src/http/routes/serving-phase.ts';
import { originRules } from '../src/http/security/cors.ts';
import { InvalidKeyThrottle } from '../src/http/security/invalid-key-throttle.ts';
import { withHsts } from '../src/http/security/security-headers.ts';
import { authenticator } from '../src/http/server/auth.ts';
import { startingResponse } from '../src/http/server/starting.ts';
import { pageUrl, withRoutableUrl } from '../src/http/transport/address.ts';
import { clientAddress } from '../src/http/transport/client-address.ts';
import { type ConnectionServer, setServerOf } from '../src/http/transport/connection-server.ts';
import { socketHandler } from '../src/http/transport/socket.ts';
import { openJobs } from '../src/jobs/open-jobs.ts';
import { waitForAbort } from '../src/kit/async/wait-for-abort.ts';
import { systemClock, unixSeconds } from '../src/kit/clock.ts';
import { issueFirstKey } from '../src/kit/keys/issue-key.ts';
import { combineProviders, LazyServices, serviceHandle } from '../src/kit/lifecycle/lazy-services.ts';
import { jsonLogger, type RootLogger, textLogger } from '../src/kit/logging/json-logger.ts';
import { monitorParent } from '../src/kit/process/parent-monitor.ts';
import { StopSignals } from '../src/kit/process/stop-signals.ts';
import { FullStorage, freeBytesOf } from '../src/kit/storage/full-storage.ts';
import { callLimits } from '../src/limits/call-limits.ts';
import { RedisCircuitBreaker } from '../src/limits/redis-circuit-breaker.ts';
import { requestLimits } from '../src/limits/request-limits.ts';
import { createMetrics } from '../src/metrics/registry.ts';
import { isEnabled, selectPlugins } from '../src/plugin-host/graph.ts';
import { type AnyPlugin, startPlugins } from '../src/plugin-host/registry.ts';
import { StoredSwitches } from '../src/plugin-host/switches.ts';
import { apiKeyStore } from '../src/records/accounts/api-key-store.ts';
import { cachedApiKeyStore } from '../src/records/accounts/cached-api-key-store.ts';
import { callJournal } from '../src/records/accounts/call-journal.ts';
import { creditStore } from '../src/records/accounts/credit-store.ts';
import { organizationStore } from '../src/records/accounts/organization-store.ts';
import { usageStore } from '../src/records/accounts/usage-store.ts';
import { openRecords } from '../src/records/open-records.ts';
import type { Records } from '../src/records/schema/records.ts';
import { batchStore } from '../src/records/stores/batch-store.ts';
import { cachedLexicons } from '../src/records/stores/cached-lexicons.ts';
import { fileStore } from '../src/records/stores/file-store.ts';
import { jobStore } from '../src/records/stores/job-store.ts';
import { lexiconStore } from '../src/records/stores/lexicon-store.ts';
import { pluginSwitchStore } from '../src/records/stores/plugin-switch-store.ts';
import { responseStore } from '../src/records/stores/response-store.ts';
import { videoStore } from '../src/records/stores/video-store.ts';
import { voiceStore } from '../src/records/stores/voice-store.ts';
import { openRedis } from '../src/redis/open-redis.ts';
import { openTracing } from '../src/tracing/open-tracing.ts';
import { areFree } from '../src/usage/prices.ts';
import { startAccounts } from '../src/usage/start-accounts.ts';
import { buildApp } from './app.ts';
import { type Config, loadConfig } from './config.ts';

/** A build of the service; server/main.ts uses the real one. */
export interface Build {
  /** All features, in the order of the contract's PLUGINS. */
  plugins(config: Config): readonly AnyPlugin[];
  /** The files of the models on this machine, by model id. Absent: no model has files. */
  modelFiles?(config: Config): Promise<ReadonlyMap<string, ModelFiles>>;
  /** Creates the services that plugins need: engines of the configured models, audio decoding etc. */
  services(config: Config, base: Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>): ServiceProvider;
}

/** A running service. */
interface Service {
  /**
   * Reports itself unready for the drain time, then rejects new requests, lets running ones finish within the grace time
   * and frees everything.
   */
  stop(): Promise<void>;
}

/** Seconds without a byte in either direction after which a connection is dropped. */
const IDLE_TIMEOUT_S = 120;

/**
 * Runs the process until a signal ends it: the first SIGTERM or SIGINT shuts down gracefully, one that arrives
 * later than a second after it exits immediately. Exits with 0 after a graceful shutdown, with 1 and one line on standard error if the
 * start fails.
 */
export async function runProcess(build: Build): Promise<void> {
  let log: RootLogger | undefined;
  try {
    const config = loadConfig();
    log = process.stdout.isTTY ? textLogger(config.logLevel) : jsonLogger(config.logLevel);
    const signals = handleSignals(log, config);
    signals.started(await start(build, config, log));
  } catch (error) {
    // No request was received yet, so the message contains no private data and is shown. The stack of an
    // unexpected error is logged.
    if (!(error instanceof StartError)) log?.error('start failed', error);
    await log?.close();
    process.stderr.write(`Cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Shuts down on SIGTERM and SIGINT, after the exit of npm, and on uncaught exceptions. */
function handleSignals(log: RootLogger, config: Config): { started(service: Service): void } {
  let service: Service | undefined;
  let ending = false;
  const end = async (exitCode: number) => {
    if (ending) process.exit(1);
    ending = true;
    try {
      // No work is running during the start.
      await service?.stop();
    } catch (error) {
      // What failed to close is released by the exit.
      log.error('stop failed', error);
    }
    await log.close();
    process.exit(exitCode);
  };
  const signals = new StopSignals(systemClock);
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (signals.received() !== 'repeated') void end(0);
    });
  }
  if (config.startedByNpm) monitorParent(() => ending || void end(0));
  return {
    started(running) {
      service = running;
      process.on('uncaughtException', (error) => {
        // The state is undefined after an uncaught exception. The message of the error is not logged, because
        // it can be private.
        log.error('unexpected error, shutting down', error);
        void end(1);
      });
      // An unhandled rejection belongs to one request and must not end the process.
      process.on('unhandledRejection', (error) => log.error('unhandled rejection', error));
    },
  };
}

/** The files of the models. If they cannot be described, only the list of models lacks them. */
async function modelFilesOf(
  build: Build,
  config: Config,
  log: Logger,
): Promise<ReadonlyMap<string, ModelFiles>> {
  try {
    return (await build.modelFiles?.(config)) ?? new Map();
  } catch (error) {
    log.error('model files could not be described', error);
    return new Map();
  }
}

/**
 * Starts the service. The port is open before plugins and models are ready, so that `/healthz` and `/readyz`
 * report the progress.
 */
async function start(build: Build, config: Config, log: RootLogger): Promise<Service> {
  const clock = systemClock;
  const available = build.plugins(config);
  const plugins = selectPlugins(available, config.plugins);
  // Closed in reverse order, at shutdown and after a failed start.
  const opened = new AsyncDisposableStack();
  try {
    const metrics = opened.adopt(createMetrics(clock), (it) => it.close());
    let app: AnyElysia | undefined;
    let phase: ServingPhase = 'serving';
    /** Plugins that `/readyz` shows as starting; without the disabled ones as soon as these are known. */
    let awaited = plugins.map(({ name }) => name);
    const serving = {
      idleTimeout: IDLE_TIMEOUT_S,
      // http/body.ts enforces the limit with an error body; Bun's own error has none.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch(request: Request, server: ConnectionServer) {
        setServerOf(server, request);
        return app?.fetch(request) ?? startingResponse(request, awaited);
      },
    };
    const open = (port: number, more: ServerOptions) =>
      opened.adopt(listen(config.host, port, log, more), (it) => it.stop(true));
    // Before the database, so that a second process on the same port changes nothing there.
    const server = open(config.port, serving);
    const servers = [server];
    if (config.tls) {
      const { port, ...files } = config.tls;
      const tlsServer = open(port, {
        ...serving,
        tls: readCertificate(files),
        fetch: async (request, server) => {
          const answer = await serving.fetch(request, server);
          return answer && withHsts(answer, config.http.strictTransportSeconds);
        },
      });
      servers.push(tlsServer);
      log.info('listening with TLS', { host: config.host, port: tlsServer.port });
    }
    if (config.metricsPort !== undefined) {
      const numbers = metricsPort(metrics, clock);
      const metricsServer = open(config.metricsPort, { fetch: (request) => numbers.fetch(request) });
      log.info('metrics listening', { host: config.host, port: metricsServer.port });
    }
    log.info('listening', { host: config.host, port: server.port });

    const onConnectionLost = (error: Error) => log.error('database connection lost', error);
    const storage = opened.adopt(openStorage(config, clock, metrics), (it) => it.close());
    const onFailure = storeFailures(metrics, storage);
    const records = opened.adopt(
      await openRecords(config.database, onConnectionLost, onFailure('database')),
      (it) => it.close(),
    );
    // Requests that outlived the grace time end before the database is closed.
    opened.defer(async () => void (await Promise.all(servers.map((each) => each.stop(true)))));
    const keys = keysOf(records, clock);
    const usage = usageStore(records);
    await organizationStore(records, clock).ensure(config.apiKeys.map(({ organization }) => organization));
    const shortKeys = config.apiKeys.filter(({ isShort }) => isShort).length;
    if (shortKeys > 0) log.warn('API_KEYS contains short keys that can be guessed', { keys: shortKeys });
    if (config.ignoredKeys.length > 0) {
      log.warn('CONFIG contains keys without effect', { keys: config.ignoredKeys.join(', ') });
    }
    const switches = pluginSwitchStore(records, clock);
    const desiredStates = await switches.list();
    awaited = awaited.filter((name) => isEnabled(desiredStates, name));

    const { tracer } = opened.adopt(
      await openTracing(config.tracing, { version: packageJson.version, clock, log, metrics }),
      (it) => it.close(),
    );
    const base = { clock, log, metrics, tracer };
    const redis = config.redisUrl && opened.adopt(await openRedis(config.redisUrl), (it) => it.disconnect());
    const { requestsPerMinute, concurrentCalls } = config.rateLimits;
    const redisBreaker = redis && new RedisCircuitBreaker({ redis, clock, log, failed: onFailure('redis') });
    const limits = opened.adopt(callLimits({ limits: concurrentCalls, redis: redisBreaker, clock }), (it) =>
      it.close(),
    );
    const journal = callJournal(records);
    const accounts = opened.adopt(
      await startAccounts({ ...base, journal, prices: config.prices, limits }),
      (it) => it.close(),
    );
    const jobSettings = {
      redisUrl: config.redisUrl,
      store: jobStore(records),
      clock,
      log,
      tracer,
      runs: config.runsJobs,
      failed: onFailure('redis'),
    };
    const services = combineProviders([
      build.services(config, base),
      new LazyServices({
        blobs: async () => serviceHandle(await openBlobs(config.blobs, clock, onFailure('blobs'))),
        jobs: async () => serviceHandle(await openJobs(jobSettings)),
      }),
    ]);
    const core = {
      ...base,
      calls: accounts.calls,
      lineCalls: accounts.lineCalls,
      jobCalls: accounts.jobCalls,
      responses: responseStore(records),
      files: fileStore(records),
      batches: batchStore(records),
      voices: voiceStore(records),
      lexicons: cachedLexicons(lexiconStore(records, clock), config.lexicon, clock),
      videos: videoStore(records),
      storage,
    };
    const graceMs = config.shutdownGraceMs;
    const registry = opened.adopt(
      await startPlugins({
        plugins,
        core,
        services,
        desiredStates,
        graceMs,
        log,
        metrics,
        onChange: () => serve(),
      }),
      (it) => it.close(),
    );
    const stored = opened.adopt(new StoredSwitches({ available, registry, store: switches, log }), (it) =>
      it.close(),
    );
    const startedAt = unixSeconds(clock);
    const files = await modelFilesOf(build, config, log);
    // Running requests stay in the app that received them.
    const serve = () => {
      const { models } = registry;
      const listed = config.modelIds.flatMap((id) => models.get(id) ?? []);
      const described = listed.map((each) => ({
        ...each,
        engine: config.modelEngines.get(each.id),
        files: files.get(each.id),
      }));
      app = buildApp({ ...appParts, models: described });
    };
    const appParts = {
      version: packageJson.version,
      consoleFolder: CONSOLE_FOLDER,
      clock,
      log,
      metrics,
      tracer,
      showMetrics: config.metricsPort === undefined,
      authenticate: authenticator({
        fixedKeys: config.apiKeys,
        store: keys,
        operators: config.operators,
        invalidKeys: new InvalidKeyThrottle(config.http.invalidKeysPerMinute, clock),
        addressOf: clientAddress(config.http.trustedProxies),
      }),
      origins: originRules(config.http.allowedOrigins),
      securityContact: config.http.securityContact,
      requestLimits: requestLimits(requestsPerMinute, redisBreaker),
      requestBytes: config.limits.requestBytes,
      bodyLimits: config.limits.bodies,
      startedAt,
      keys,
      usage,
      credits: creditStore(records),
      isFree: areFree(config.prices),
      registry,
      plugins: stored,
      requiredModels: config.requiredModels,
      storage,
      phase: () => phase,
    };
    // After everything that can fail, because the key is shown only once.
    if (config.apiKeys.length === 0) await printFirstKey(keys);
    serve();
    const url = pageUrl(config.host, server.port ?? config.port);
    log.info('started', { plugins: [...registry.readiness().keys()].join(','), url });
    log.announce(`Ready. Console: ${url}/  Guide: ${url}/docs  API reference: ${url}/swagger`);

    return {
      async stop() {
        const pending = () => servers.reduce((sum, each) => sum + each.pendingRequests, 0);
        if (config.shutdownDrainMs > 0) {
          phase = 'draining';
          log.info('draining', { drainMs: config.shutdownDrainMs, requests: pending() });
          await waitForAbort(AbortSignal.timeout(config.shutdownDrainMs));
        }
        phase = 'stopping';
        log.info('stopping', { graceMs: config.shutdownGraceMs, requests: pending() });
        const deadline = AbortSignal.timeout(config.shutdownGraceMs);
        await registry.drain(deadline);
        // Closes idle connections and waits for responses that are still being sent.
        await Promise.race([Promise.all(servers.map((each) => each.stop())), waitForAbort(deadline)]);
        if (pending() > 0) log.warn('grace time is over', { requests: pending() });
        await opened.disposeAsync();
        log.info('stopped');
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Each request looks up its key. A query takes microseconds in SQLite, so only PostgreSQL needs a cache. */
function keysOf(records: Records, clock: Clock): ApiKeyStore {
  const keys = apiKeyStore(records, clock);
  return records.engine === 'postgres' ? cachedApiKeyStore(keys, clock) : keys;
}

/** Counts failed operations of stores, and tells `storage` their errors. */
function storeFailures(
  metrics: Metrics,
  storage: FullStorage,
): (store: 'database' | 'redis' | 'blobs') => (error?: unknown) => void {
  const failures = metrics.counter('store_failures_total', 'Failed operations of a store.', ['store']);
  return (store) => (error) => {
    failures.add({ store });
    if (store !== 'redis') storage.recordFailure(store, error);
  };
}

/** Watches the space of the stores, for `/readyz` and `/metrics`. */
function openStorage({ dataDir, database, blobs }: Config, clock: Clock, metrics: Metrics): FullStorage {
  const local = new Set<StoragePlace>(['data_dir']);
  if (database.kind === 'sqlite') local.add('database');
  if (blobs.kind === 'disk') local.add('blobs');
  const storage = new FullStorage({ local, clock, readFreeBytes: () => freeBytesOf(dataDir) });
  for (const place of STORAGE_PLACES) {
    const help = `1 while the ${place} store is full, otherwise 0.`;
    metrics.gauge(`storage_${place}_full`, help, () => (storage.isFull(place) ? 1 : 0));
  }
  const help = 'Free space of the disk of DATA_DIR for the service; NaN if unknown.';
  metrics.gauge('storage_free_bytes', help, () => storage.freeBytes ?? Number.NaN);
  return storage;
}

/** Prints the key of the first start to the console and not to the log: it is shown only once. */
async function printFirstKey(keys: ApiKeyStore): Promise<void> {
  const issued = await issueFirstKey(keys);
  if (issued === undefined) return;
  process.stdout.write(
    `\nFirst start: created this API key for the organization '${issued.record.organization}'. ` +
      `It is shown only once.\n\n    ${issued.key}\n\n`,
  );
}

interface ServerOptions {
  fetch(request: Request, server: ConnectionServer): Response | Promise<Response>;
  readonly tls?: Certificate;
  readonly idleTimeout?: number;
  readonly maxRequestBodySize?: number;
}

/** Whether the error concerns the port or the address. */
function isListenError(code: unknown): boolean {
  return typeof code === 'string' && /^E(ADDR|ACCES|PERM)/.test(code);
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

function readCertificate(files: { readonly certFile: string; readonly keyFile: string }): Certificate {
  const read = (variable: string, path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      throw new StartError(`Environment variable ${variable}: cannot read the file ${path}`);
    }
  };
  return { cert: read('TLS_CERT_FILE', files.certFile), key: read('TLS_KEY_FILE', files.keyFile) };
}

function listen(hostname: string, port: number, log: Logger, { fetch, ...options }: ServerOptions) {
  const serverOptions: ServerOptions = {
    ...options,
    fetch: (request, server) => fetch(withRoutableUrl(request), server),
  };
  try {
    // Bun otherwise shares ports outside of development: a second service would receive half of the requests.
    return Bun.serve({
      hostname,
      port,
      development: false,
      reusePort: false,
      websocket: socketHandler,
      ...serverOptions,
      // Without this handler, Bun prints errors that the app did not handle, with their message.
      error(error) {
        log.error('request failed outside the app', error);
        return toErrorResponse(toServiceError(error));
      },
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (serverOptions.tls && !isListenError(code)) {
      throw new StartError(
        'TLS_CERT_FILE and TLS_KEY_FILE must be a certificate chain and its private key in PEM format.',
      );
    }
    const reason =
      code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code ?? 'unknown reason'})`;
    throw new StartError(`port ${port} of ${hostname} ${reason}.`);
  }
}
