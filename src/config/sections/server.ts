import { resolve } from 'node:path';
import { ConfigError } from '../config-error.ts';
import {
  choiceVariable,
  type Environment,
  integerVariable,
  readVariables,
  textOf,
  textVariable,
} from '../variable.ts';

const MAX_PORT = 65_535;
const MAX_SHUTDOWN_MS = 3_600_000;
const DEFAULT_TLS_PORT = 8443;

const LISTENING = {
  host: textVariable('HOST', {
    default: '127.0.0.1',
    meaning: 'address to listen on; the container images set 0.0.0.0',
  }),
  port: integerVariable('PORT', {
    min: 0,
    max: MAX_PORT,
    default: 8080,
    meaning: 'port to listen on; 0 selects a free port',
  }),
  metricsPort: integerVariable('METRICS_PORT', {
    min: 0,
    max: MAX_PORT,
    fallback: 'the main port',
    meaning: 'separate port for /metrics, on the same HOST',
  }),
};

const TLS = {
  certFile: textVariable('TLS_CERT_FILE', {
    meaning:
      'PEM file with the certificate chain; with TLS_KEY_FILE, enables a TLS listener on the same HOST',
  }),
  keyFile: textVariable('TLS_KEY_FILE', { meaning: 'PEM file with the private key' }),
  port: integerVariable('TLS_PORT', {
    min: 0,
    max: MAX_PORT,
    fallback: String(DEFAULT_TLS_PORT),
    meaning: 'port of the TLS listener; 0 selects a free port',
  }),
};

const PROCESS = {
  shutdownDrainMs: integerVariable('SHUTDOWN_DRAIN_MS', {
    min: 0,
    max: MAX_SHUTDOWN_MS,
    default: 0,
    meaning: 'time after SIGTERM, in ms, during which `/readyz` returns 503 but requests are still accepted',
  }),
  shutdownGraceMs: integerVariable('SHUTDOWN_GRACE_MS', {
    min: 0,
    max: MAX_SHUTDOWN_MS,
    default: 30_000,
    meaning: 'maximum time after that, in ms, for running requests to finish',
  }),
  logLevel: choiceVariable('LOG_LEVEL', {
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    meaning: '`debug`, `info`, `warn`, `error` or `silent`',
  }),
};

export const SERVER_VARIABLES = [LISTENING, TLS, PROCESS];

/** An additional listener with TLS. */
interface TlsSettings {
  readonly port: number;
  /** Paths of PEM files. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** Addresses, shutdown and log of the process. */
export function serverSettings(environment: Environment) {
  return {
    ...readVariables(LISTENING, environment),
    /** Undefined: no listener with TLS. */
    tls: tlsSettings(environment),
    ...readVariables(PROCESS, environment),
    /** Whether npm or npx started this process, according to the variables that npm sets. */
    startedByNpm: /np[mx]-cli\.js$/.test(textOf(environment, 'npm_execpath') ?? ''),
  };
}

/** Requires both files or none: with only one, clients could not connect over TLS as intended. */
function tlsSettings(environment: Environment): TlsSettings | undefined {
  const given = readVariables(TLS, environment);
  const { certFile, keyFile, port = DEFAULT_TLS_PORT } = given;
  if (certFile !== undefined && keyFile !== undefined) {
    return Object.freeze({ port, certFile: resolve(certFile), keyFile: resolve(keyFile) });
  }
  const names = Object.entries(TLS).flatMap(([key, { name }]) =>
    given[key as keyof typeof TLS] === undefined ? [] : [name],
  );
  if (names.length === 0) return undefined;
  throw new ConfigError(
    `Environment variable ${names.join(' and ')} is set, but TLS requires both TLS_CERT_FILE and TLS_KEY_FILE.`,
  );
}
