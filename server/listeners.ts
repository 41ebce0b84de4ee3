import { readFileSync } from 'node:fs';
import type { Clock } from '../src/contract/core/clock.ts';
import { StartError } from '../src/contract/core/error.ts';
import type { Logger } from '../src/contract/core/logger.ts';
import { toErrorResponse, toServiceError } from '../src/http/response/error-body.ts';
import { metricsPort } from '../src/http/routes/metrics.ts';
import { withHsts } from '../src/http/security/security-headers.ts';
import { withRoutableUrl } from '../src/http/transport/address.ts';
import type { ConnectionServer } from '../src/http/transport/connection-server.ts';
import { socketHandler } from '../src/http/transport/socket.ts';
import type { MetricsRegistry } from '../src/metrics/registry.ts';
import type { Config } from './config.ts';
import type { Front } from './front.ts';

/** Seconds without a byte in either direction after which a connection is dropped. */
const IDLE_TIMEOUT_S = 120;

/** The open ports of the process. */
export interface Listeners {
  /** The actual port of the API. */
  readonly port: number;
  /** Requests in progress on the ports of the API. */
  readonly pendingRequests: () => number;
  /** Accepts no more connections. Resolves when all responses of the API are sent. */
  finish(): Promise<void>;
  /** Ends the connections of the API. */
  stop(): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

interface ListenerDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly front: Front;
}

type Server = ReturnType<typeof listen>;

/** @throws StartError if a port cannot be opened; the others are closed. */
export async function openListeners(deps: ListenerDeps): Promise<Listeners> {
  const { config, log } = deps;
  const opened: Server[] = [];
  const stopAll = (servers: readonly Server[]) => Promise.all(servers.map((each) => each.stop(true)));
  const add = (server: Server) => {
    opened.push(server);
    return server;
  };
  try {
    const main = add(listen(config.host, config.port, log, apiOptions(deps.front)));
    const tls = config.tls && add(listenWithTls(deps, config.tls));
    const api = tls === undefined ? [main] : [main, tls];
    if (config.metricsPort !== undefined) add(listenForMetrics(deps, config.metricsPort));
    log.info('listening', { host: config.host, port: main.port });
    return {
      port: main.port ?? config.port,
      pendingRequests: () => api.reduce((sum, each) => sum + each.pendingRequests, 0),
      finish: async () => void (await Promise.all(api.map((each) => each.stop()))),
      stop: async () => void (await stopAll(api)),
      close: async () => void (await stopAll(opened)),
    };
  } catch (error) {
    await stopAll(opened);
    throw error;
  }
}

function apiOptions({ fetch }: Front): ServerOptions {
  // http/body.ts enforces the limit of a body with an error body; Bun's own error has none.
  return { idleTimeout: IDLE_TIMEOUT_S, maxRequestBodySize: Number.MAX_SAFE_INTEGER, fetch };
}

function listenWithTls(
  { config, log, front }: ListenerDeps,
  { port, ...files }: NonNullable<Config['tls']>,
): Server {
  const server = listen(config.host, port, log, {
    ...apiOptions(front),
    tls: readCertificate(files),
    fetch: async (request, connection) => {
      const answer = await front.fetch(request, connection);
      return answer && withHsts(answer, config.http.strictTransportSeconds);
    },
  });
  log.info('listening with TLS', { host: config.host, port: server.port });
  return server;
}

function listenForMetrics({ config, log, clock, metrics }: ListenerDeps, port: number): Server {
  const numbers = metricsPort(metrics, clock);
  const server = listen(config.host, port, log, { fetch: (request) => numbers.fetch(request) });
  log.info('metrics listening', { host: config.host, port: server.port });
  return server;
}

interface ServerOptions {
  fetch(request: Request, server: ConnectionServer): Response | Promise<Response>;
  readonly tls?: Certificate;
  readonly idleTimeout?: number;
  readonly maxRequestBodySize?: number;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Whether the error concerns the port or the address. */
function isListenError(code: unknown): boolean {
  return typeof code === 'string' && /^E(ADDR|ACCES|PERM)/.test(code);
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
