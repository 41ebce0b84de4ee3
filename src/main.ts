import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyElysia } from 'elysia';
import packageJson from '../package.json' with { type: 'json' };
import { buildApp } from './app.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import type { ApiKeyStore } from './contract/api-key.ts';
import { authenticator } from './http/auth.ts';
import { createMetrics } from './http/metrics.ts';
import { metricsRoutes } from './http/metrics-routes.ts';
import { startingAnswer } from './http/starting.ts';
import { systemClock } from './kit/clock.ts';
import { jsonLogger, type RootLogger } from './kit/json-logger.ts';
import { issueFirstKey } from './records/issue-key.ts';
import { sqliteApiKeyStore } from './records/sqlite-api-key-store.ts';
import { DatabaseError, openDatabase } from './records/sqlite-database.ts';
import { sqliteUsageStore } from './records/sqlite-usage-store.ts';
import { type AnyPlugin, RegistryError, selectPlugins, startPlugins } from './registry.ts';
import { usageLedger } from './usage/usage-ledger.ts';

/** Every feature of this build, in the order of the contract's PLUGINS. */
const PLUGINS: readonly AnyPlugin[] = [];

/** Seconds without a byte in either direction after which a connection is dropped. */
const IDLE_TIMEOUT_S = 120;

/** A running service. */
interface Service {
  /** Turns new work away, lets running work finish within the grace time, then frees everything. */
  stop(): Promise<void>;
}

/**
 * Starts the service. The port answers before plugins and models are ready, so that `/healthz` and
 * `/readyz` tell of the start.
 */
async function start(config: Config, log: RootLogger): Promise<Service> {
  const clock = systemClock;
  const plugins = selectPlugins(PLUGINS, config.plugins);
  const pluginNames = plugins.map((plugin) => plugin.name);
  // Whatever was opened is closed in reverse, at the end as after a failed start.
  const opened = new AsyncDisposableStack();
  try {
    const database = opened.adopt(openDatabase(join(config.dataDir, 'service.sqlite')), (it) => it.close());
    const keys = sqliteApiKeyStore(database, clock);
    const usage = sqliteUsageStore(database);
    if (config.apiKeys.length === 0) await printFirstKey(keys);
    const metrics = opened.adopt(createMetrics(clock), (it) => it.close());

    let app: AnyElysia | undefined;
    let stopping = false;
    const server = listen(config.host, config.port, {
      idleTimeout: IDLE_TIMEOUT_S,
      // http/body.ts holds the limit, with an error body; Bun's own refusal has none.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request) => app?.fetch(request) ?? startingAnswer(request, pluginNames),
    });
    opened.defer(() => server.stop(true));
    if (config.metricsPort !== undefined) {
      const routes = metricsRoutes(metrics);
      const metricsServer = listen(config.host, config.metricsPort, {
        fetch: (request) => routes.fetch(request),
      });
      opened.defer(() => metricsServer.stop(true));
      log.info('metrics listening', { host: config.host, port: metricsServer.port });
    }
    log.info('listening', { host: config.host, port: server.port });

    const slots = { usage: usageLedger(usage, clock, metrics), clock, log, metrics };
    const registry = opened.adopt(await startPlugins(plugins, slots, log), (it) => it.close());
    app = buildApp({
      version: packageJson.version,
      clock,
      log,
      metrics,
      showMetrics: config.metricsPort === undefined,
      authenticate: authenticator(config.apiKeys, keys),
      requestBytes: config.limits.requestBytes,
      modelIds: [...config.ttsModels.keys()],
      usage,
      registry,
      consoleHtml: readFileSync(new URL('../web/index.html', import.meta.url), 'utf8'),
      draining: () => stopping,
    });
    app.server = server;
    log.info('started', { plugins: pluginNames.join(',') });

    return {
      async stop() {
        stopping = true;
        log.info('stopping', { graceMs: config.shutdownGraceMs, requests: server.pendingRequests });
        const deadline = AbortSignal.timeout(config.shutdownGraceMs);
        await registry.drain(deadline);
        // Closes idle connections and waits for answers that are still being sent.
        await Promise.race([server.stop(), aborted(deadline)]);
        if (server.pendingRequests > 0) log.warn('grace time is over', { requests: server.pendingRequests });
        await opened.disposeAsync();
        log.info('stopped');
      },
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
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

/** A port that cannot be had. */
class ListenError extends Error {}

interface Answering {
  fetch(request: Request): Response | Promise<Response>;
  readonly idleTimeout?: number;
  readonly maxRequestBodySize?: number;
}

function listen(hostname: string, port: number, answering: Answering) {
  try {
    // Outside of development Bun shares ports: a second service would take half of the first one's calls.
    return Bun.serve({ hostname, port, development: false, reusePort: false, ...answering });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason =
      code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code ?? 'unknown reason'})`;
    throw new ListenError(`port ${port} of ${hostname} ${reason}.`);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Runs the process until a signal ends it: the first one gently, the second at once. */
async function run(): Promise<void> {
  const config = loadConfig();
  const log = jsonLogger(config.logLevel);
  let stopping = false;
  const starting = start(config, log);

  const stop = async (exitCode: number) => {
    if (stopping) process.exit(1);
    stopping = true;
    // A stop during the start waits for it: half-opened parts could not be closed in order.
    const service = await starting;
    await service.stop();
    log.flush();
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  const crash = (error: unknown) => {
    log.error('unexpected failure, stopping', error);
    void stop(1);
  };
  await starting;
  // From here on a stray failure is logged without its message, which may be private.
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

try {
  await run();
} catch (error) {
  const expected = [ConfigError, RegistryError, DatabaseError, ListenError].some(
    (kind) => error instanceof kind,
  );
  console.error(expected && error instanceof Error ? `Cannot start: ${error.message}` : error);
  process.exit(1);
}
