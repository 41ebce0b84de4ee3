import packageJson from '../package.json' with { type: 'json' };
import type { ApiKeyStore } from '../src/contract/accounts/api-key.ts';
import { StartError } from '../src/contract/core/error.ts';
import type { Logger } from '../src/contract/core/logger.ts';
import type { ModelFiles } from '../src/contract/model-table.ts';
import { CONSOLE_FOLDER } from '../src/http/routes/console.ts';
import { authenticator } from '../src/http/security/auth.ts';
import { originRules } from '../src/http/security/cors.ts';
import { InvalidKeyThrottle } from '../src/http/security/invalid-key-throttle.ts';
import { pageUrl } from '../src/http/transport/address.ts';
import { clientAddress } from '../src/http/transport/client-address.ts';
import { waitForAbort } from '../src/kit/async/wait-for-abort.ts';
import { systemClock, unixSeconds } from '../src/kit/clock.ts';
import { issueFirstKey } from '../src/kit/keys/issue-key.ts';
import { jsonLogger, type RootLogger, textLogger } from '../src/kit/logging/json-logger.ts';
import { monitorParent } from '../src/kit/process/parent-monitor.ts';
import { StopSignals } from '../src/kit/process/stop-signals.ts';
import { requestLimits } from '../src/limits/request-limits.ts';
import { type AnyDefinition, configured } from '../src/plugin-host/configure.ts';
import { selectPlugins } from '../src/plugin-host/graph.ts';
import { areFree } from '../src/usage/prices.ts';
import { type AppDeps, buildApp } from './app.ts';
import { type Config, loadConfigAndPlugins } from './config.ts';
import { type Build, type Running, services } from './services.ts';

/** A running service. */
interface Service {
  /**
   * Reports itself unready for the drain time, then rejects new requests, lets running ones finish within the grace time
   * and frees everything.
   */
  stop(): Promise<void>;
}

/**
 * Runs the process until a signal ends it: the first SIGTERM or SIGINT shuts down gracefully, one that arrives
 * later than a second after it exits immediately. Exits with 0 after a graceful shutdown, with 1 and one line on standard error if the
 * start fails.
 */
export async function runProcess(build: Build): Promise<void> {
  let log: RootLogger | undefined;
  try {
    const { config, extra } = await loadConfigAndPlugins();
    log = process.stdout.isTTY ? textLogger(config.logLevel) : jsonLogger(config.logLevel);
    const signals = handleSignals(log, config);
    signals.started(await start(build, config, extra, log));
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
async function start(
  build: Build,
  config: Config,
  extra: readonly AnyDefinition[],
  log: RootLogger,
): Promise<Service> {
  warnOf(config, log);
  const available = [...build.plugins(config), ...extra.map((each) => configured(each, config))];
  const plugins = selectPlugins(available, config.plugins);
  const { services: running, close } = await services.open({
    build,
    config,
    clock: systemClock,
    log,
    available,
    plugins,
  });
  try {
    await serve(running);
    return { stop: () => stop(running, close) };
  } catch (error) {
    await close();
    throw error;
  }
}

function warnOf({ apiKeys, ignoredKeys }: Config, log: Logger): void {
  const shortKeys = apiKeys.filter(({ isShort }) => isShort).length;
  if (shortKeys > 0) log.warn('API_KEYS contains short keys that can be guessed', { keys: shortKeys });
  if (ignoredKeys.length > 0) {
    log.warn('CONFIG contains keys without effect', { keys: ignoredKeys.join(', ') });
  }
}

/** Serves the app instead of the progress of the start. */
async function serve(running: Running): Promise<void> {
  const { build, config, log, front, registry, stores, listeners } = running;
  const files = await modelFilesOf(build, config, log);
  const parts = appParts(running);
  // After everything that can fail, because the key is shown only once.
  if (config.apiKeys.length === 0) await printFirstKey(stores.keys);
  front.serve(() => buildApp({ ...parts, models: listedModels(running, files) }));
  const url = pageUrl(config.host, listeners.port);
  log.info('started', { plugins: [...registry.readiness().keys()].join(','), url });
  log.announce(`Ready. Console: ${url}/  Guide: ${url}/docs  API reference: ${url}/swagger`);
}

/** The models of running plugins, in the order of CONFIG. */
function listedModels(
  { config, registry }: Running,
  files: ReadonlyMap<string, ModelFiles>,
): AppDeps['models'] {
  const { models } = registry;
  return config.modelIds
    .flatMap((id) => models.get(id) ?? [])
    .map((each) => ({ ...each, engine: config.modelEngines.get(each.id), files: files.get(each.id) }));
}

/** What the app uses, except the models, which change with the running plugins. */
function appParts(running: Running): Omit<AppDeps, 'models'> {
  const { config, clock, log, metrics, tracing, stores, storage, registry, switches, redisBreaker } = running;
  const { http, limits, rateLimits } = config;
  return {
    version: packageJson.version,
    consoleFolder: CONSOLE_FOLDER,
    clock,
    log,
    metrics,
    tracer: tracing.tracer,
    showMetrics: config.metricsPort === undefined,
    authenticate: authenticator({
      fixedKeys: config.apiKeys,
      store: stores.keys,
      operators: config.operators,
      invalidKeys: new InvalidKeyThrottle(http.invalidKeysPerMinute, clock),
      addressOf: clientAddress(http.trustedProxies),
    }),
    origins: originRules(http.allowedOrigins),
    securityContact: http.securityContact,
    requestLimits: requestLimits(rateLimits.requestsPerMinute, redisBreaker),
    requestBytes: limits.requestBytes,
    bodyLimits: limits.bodies,
    startedAt: unixSeconds(clock),
    keys: stores.keys,
    usage: stores.usage,
    credits: stores.credits,
    isFree: areFree(config.prices),
    registry,
    plugins: switches,
    requiredModels: config.requiredModels,
    storage,
    phase: () => running.front.phase,
  };
}

/** Drains for the configured times, then closes everything. */
async function stop(
  { config, log, front, registry, listeners }: Running,
  close: () => Promise<void>,
): Promise<void> {
  const { shutdownDrainMs: drainMs, shutdownGraceMs: graceMs } = config;
  const { pendingRequests: pending } = listeners;
  if (drainMs > 0) {
    front.phase = 'draining';
    log.info('draining', { drainMs, requests: pending() });
    await waitForAbort(AbortSignal.timeout(drainMs));
  }
  front.phase = 'stopping';
  log.info('stopping', { graceMs, requests: pending() });
  const deadline = AbortSignal.timeout(graceMs);
  await registry.drain(deadline);
  // Closes idle connections and waits for responses that are still being sent.
  await Promise.race([listeners.finish(), waitForAbort(deadline)]);
  if (pending() > 0) log.warn('grace time is over', { requests: pending() });
  await close();
  log.info('stopped');
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
