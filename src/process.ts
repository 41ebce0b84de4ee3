import { readFileSync } from 'node:fs';
import type { AnyElysia } from 'elysia';
import packageJson from '../package.json' with { type: 'json' };
import { buildApp } from './app.ts';
import { openBlobs } from './blobs/open-blobs.ts';
import { type Config, loadConfig } from './config/config.ts';
import type { ApiKeyStore } from './contract/accounts/api-key.ts';
import type { Clock } from './contract/core/clock.ts';
import { StartError } from './contract/core/error.ts';
import type { Logger } from './contract/core/logger.ts';
import type { Metrics } from './contract/core/metrics.ts';
import type { ServiceProvider, Slots } from './contract/plugin.ts';
import { errorResponse, toServiceError } from './http/response/error-body.ts';
import { CONSOLE_FOLDER } from './http/routes/console.ts';
import { metricsPort } from './http/routes/metrics.ts';
import type { ServingPhase } from './http/routes/serving-phase.ts';
import { originRules } from './http/security/cors.ts';
import { InvalidKeyThrottle } from './http/security/invalid-key-throttle.ts';
import { withHsts } from './http/security/security-headers.ts';
import { authenticator } from './http/server/auth.ts';
import { startingResponse } from './http/server/starting.ts';
import { withAbsoluteUrl } from './http/transport/address.ts';
import { clientAddress } from './http/transport/client-address.ts';
import { type ConnectionServer, setServerOf } from './http/transport/connection-server.ts';
import { socketHandler } from './http/transport/socket.ts';
import { openJobs } from './jobs/open-jobs.ts';
import { waitForAbort } from './kit/async/wait-for-abort.ts';
import { systemClock, unixSeconds } from './kit/clock.ts';
import { issueFirstKey } from './kit/keys/issue-key.ts';
import { combineProviders, LazyServices, serviceHandle } from './kit/lifecycle/lazy-services.ts';
import { jsonLogger, type RootLogger } from './kit/logging/json-logger.ts';
import { monitorParent } from './kit/process/parent-monitor.ts';
import { callLimits } from './limits/call-limits.ts';
import { RedisCircuitBreaker } from './limits/redis-circuit-breaker.ts';
import { requestLimits } from './limits/request-limits.ts';
import { createMetrics } from './metrics/registry.ts';
import { isEnabled, selectPlugins } from './plugin-host/graph.ts';
import { type AnyPlugin, startPlugins } from './plugin-host/registry.ts';
import { StoredSwitches } from './plugin-host/switches.ts';
import { apiKeyStore } from './records/accounts/api-key-store.ts';
import { cachedApiKeyStore } from './records/accounts/cached-api-key-store.ts';
import { callJournal } from './records/accounts/call-journal.ts';
import { creditStore } from './records/accounts/credit-store.ts';
import { organizationStore } from './records/accounts/organization-store.ts';
import { usageStore } from './records/accounts/usage-store.ts';
import { openRecords } from './records/open-records.ts';
import type { Records } from './records/schema/records.ts';
import { batchStore } from './records/stores/batch-store.ts';
import { fileStore } from './records/stores/file-store.ts';
import { jobStore } from './records/stores/job-store.ts';
import { pluginSwitchStore } from './records/stores/plugin-switch-store.ts';
import { responseStore } from './records/stores/response-store.ts';
import { videoStore } from './records/stores/video-store.ts';
import { voiceStore } from './records/stores/voice-store.ts';
import { openRedis } from './redis/open-redis.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { areFree } from './usage/prices.ts';
import { startAccounts } from './usage/start-accounts.ts';

/** What a build of the service consists of; src/main.ts names the real one. */
export interface Build {
  /** Every feature, in the order of the contract's PLUGINS. */
  plugins(config: Config): readonly AnyPlugin[];
  /** What fills slots as plugins need them: the engines that CONFIG maps model ids to, the reader of audio files. */
  services(config: Config, words: Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>): ServiceProvider;
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
 * Runs the process until a signal ends it: the first SIGTERM or SIGINT gently, a second one at once.
 * Exits with 0 after a gentle stop, with 1 and one line on standard error when it cannot start.
 */
export async function runProcess(build: Build): Promise<void> {
  let log: RootLogger | undefined;
  try {
    const config = loadConfig();
    log = jsonLogger(config.logLevel);
    const signals = endOnSignals(log, config);
    signals.started(await start(build, config, log));
  } catch (error) {
    // No caller was heard yet, so the message is shown whatever was thrown; the stack of a fault that
    // nobody foresaw goes to the log.
    if (!(error instanceof StartError)) log?.error('start failed', error);
    await log?.close();
    process.stderr.write(`Cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Ends the process on SIGTERM and SIGINT, when npm was ended, and on failures that nobody caught. */
function endOnSignals(log: RootLogger, config: Config): { started(service: Service): void } {
  let service: Service | undefined;
  let ending = false;
  const end = async (exitCode: number) => {
    if (ending) process.exit(1);
    ending = true;
    try {
      // During the start there is no work to finish.
      await service?.stop();
    } catch (error) {
      // Whatever could not be closed goes with the process.
      log.error('stop failed', error);
    }
    await log.close();
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => end(0));
  process.on('SIGINT', () => end(0));
  if (config.startedByNpm) monitorParent(() => ending || void end(0));
  return {
    started(running) {
      service = running;
      process.on('uncaughtException', (error) => {
        // Nobody knows what state is left. Errors are logged without their message, which may be private.
        log.error('unexpected failure, stopping', error);
        void end(1);
      });
      // A promise that nobody awaited belongs to one request; one caller must not end it for all.
      process.on('unhandledRejection', (error) => log.error('unhandled rejection', error));
    },
  };
}

/**
 * Starts the service. The port answers before plugins and models are ready, so that `/healthz` and
 * `/readyz` tell of the start.
 */
async function start(build: Build, config: Config, log: RootLogger): Promise<Service> {
  const clock = systemClock;
  const available = build.plugins(config);
  const plugins = selectPlugins(available, config.plugins);
  // Whatever was opened is closed in reverse, at the end as after a failed start.
  const opened = new AsyncDisposableStack();
  try {
    const lost = (error: Error) => log.error('a connection to the database was lost', error);
    const metrics = opened.adopt(createMetrics(clock), (it) => it.close());
    const failed = storeFailures(metrics);
    const records = opened.adopt(await openRecords(config.database, lost, failed('database')), (it) =>
      it.close(),
    );
    const keys = keysOf(records, clock);
    const usage = usageStore(records);
    await organizationStore(records, clock).ensure(config.apiKeys.map(({ organization }) => organization));
    if (config.apiKeys.length === 0) await printFirstKey(keys);
    const shortKeys = config.apiKeys.filter(({ isShort }) => isShort).length;
    if (shortKeys > 0) log.warn('API_KEYS has short keys, which can be guessed', { keys: shortKeys });
    const switches = pluginSwitchStore(records, clock);
    const wishes = await switches.list();
    const awaited = plugins.map(({ name }) => name).filter((name) => isEnabled(wishes, name));

    let app: AnyElysia | undefined;
    let phase: ServingPhase = 'serving';
    const serving = {
      idleTimeout: IDLE_TIMEOUT_S,
      // http/body.ts holds the limit, with an error body; Bun's own refusal has none.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch(request: Request, server: ConnectionServer) {
        setServerOf(server, request);
        return app?.fetch(request) ?? startingResponse(request, awaited);
      },
    };
    const open = (port: number, more: Answering) =>
      opened.adopt(listen(config.host, port, log, more), (it) => it.stop(true));
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

    const { tracer } = opened.adopt(
      await openTracing(config.tracing, { version: packageJson.version, clock, log, metrics }),
      (it) => it.close(),
    );
    const words = { clock, log, metrics, tracer };
    const redis = config.redisUrl && opened.adopt(await openRedis(config.redisUrl), (it) => it.disconnect());
    const { requestsPerMinute, concurrentCalls } = config.rateLimits;
    const counts = redis && new RedisCircuitBreaker({ redis, clock, log, failed: failed('redis') });
    const limits = opened.adopt(callLimits({ limits: concurrentCalls, redis: counts, clock }), (it) =>
      it.close(),
    );
    const journal = callJournal(records);
    const accounts = opened.adopt(
      await startAccounts({ ...words, journal, prices: config.prices, limits }),
      (it) => it.close(),
    );
    const jobSettings = {
      redisUrl: config.redisUrl,
      store: jobStore(records),
      clock,
      log,
      tracer,
      runs: config.runsJobs,
      failed: failed('redis'),
    };
    const parts = combineProviders([
      build.services(config, words),
      new LazyServices({
        blobs: async () => serviceHandle(await openBlobs(config.blobs, clock, failed('blobs'))),
        jobs: async () => serviceHandle(await openJobs(jobSettings)),
      }),
    ]);
    const core = {
      ...words,
      calls: accounts.calls,
      lineCalls: accounts.lineCalls,
      jobCalls: accounts.jobCalls,
      responses: responseStore(records),
      files: fileStore(records),
      batches: batchStore(records),
      voices: voiceStore(records),
      videos: videoStore(records),
    };
    const graceMs = config.shutdownGraceMs;
    const registry = opened.adopt(
      await startPlugins({
        plugins,
        core,
        services: parts,
        desiredStates: wishes,
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
    // Requests that run go on in the app that they came to.
    const serve = () => {
      const { models } = registry;
      app = buildApp({ ...appParts, models: config.modelIds.flatMap((id) => models.get(id) ?? []) });
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
      requestLimits: requestLimits(requestsPerMinute, counts),
      requestBytes: config.limits.requestBytes,
      startedAt,
      keys,
      usage,
      credits: creditStore(records),
      isFree: areFree(config.prices),
      registry,
      plugins: stored,
      requiredModels: config.requiredModels,
      phase: () => phase,
    };
    serve();
    log.info('started', { plugins: [...registry.readiness().keys()].join(',') });

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
        // Closes idle connections and waits for answers that are still being sent.
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

/** Every request looks up its key. A query takes microseconds in SQLite, so only PostgreSQL needs a cache. */
function keysOf(records: Records, clock: Clock): ApiKeyStore {
  const keys = apiKeyStore(records, clock);
  return records.engine === 'postgres' ? cachedApiKeyStore(keys, clock) : keys;
}

/** Counts what a store did not do. */
function storeFailures(metrics: Metrics): (store: 'database' | 'redis' | 'blobs') => () => void {
  const failures = metrics.counter(
    'store_failures_total',
    'Statements and requests that a store did not answer, or refused.',
    ['store'],
  );
  return (store) => () => failures.add({ store });
}

/** The key of a first start goes to the console, not through the log: this is the one time it is shown. */
async function printFirstKey(keys: ApiKeyStore): Promise<void> {
  const issued = await issueFirstKey(keys);
  if (issued === undefined) return;
  process.stdout.write(
    `\nFirst start: this API key was made for the organization '${issued.record.organization}'. ` +
      `It is shown only now.\n\n    ${issued.key}\n\n`,
  );
}

interface Answering {
  fetch(request: Request, server: ConnectionServer): Response | Promise<Response>;
  readonly tls?: Certificate;
  readonly idleTimeout?: number;
  readonly maxRequestBodySize?: number;
}

/** Whether it is the port or the address that could not be had. */
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
      throw new StartError(`Environment variable ${variable} names a file that cannot be read: ${path}`);
    }
  };
  return { cert: read('TLS_CERT_FILE', files.certFile), key: read('TLS_KEY_FILE', files.keyFile) };
}

function listen(hostname: string, port: number, log: Logger, { fetch, ...options }: Answering) {
  const answering: Answering = {
    ...options,
    fetch: (request, server) => fetch(withAbsoluteUrl(request), server),
  };
  try {
    // Outside of development Bun shares ports: a second service would take half of the first one's calls.
    return Bun.serve({
      hostname,
      port,
      development: false,
      reusePort: false,
      websocket: socketHandler,
      ...answering,
      // Without this, what slips through the app would be printed with its message.
      error(error) {
        log.error('request failed outside of the app', error);
        return errorResponse(toServiceError(error));
      },
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (answering.tls && !isListenError(code)) {
      throw new StartError('TLS_CERT_FILE and TLS_KEY_FILE must be a certificate chain and its key, as PEM.');
    }
    const reason =
      code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code ?? 'unknown reason'})`;
    throw new StartError(`port ${port} of ${hostname} ${reason}.`);
  }
}
