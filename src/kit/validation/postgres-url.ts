import { Secret } from '../../contract/core/secret.ts';
import type { PostgresSettings, PostgresTls } from '../../contract/core/settings.ts';

/**
 * Describes the problem as the end of a sentence that starts with the name of the setting. Contains no
 * values, because one is the password.
 */
export class PostgresUrlError extends Error {}

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;
/** Parameters with libpq names, and two own ones. */
const PARAMETERS: readonly string[] = [
  'host',
  'sslmode',
  ...TLS_FILES,
  'connect_timeout',
  'statement_timeout',
  'pool_size',
];

/**
 * Parses `postgres://user:password@host:port/database?…`.
 * @throws PostgresUrlError for missing, unknown or out-of-range values.
 */
export function parsePostgresUrl(text: string): PostgresSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new PostgresUrlError('must be a URL such as postgres://user:password@host:5432/database');
  }
  const query = url.searchParams;
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name)) {
      // The name is not shown, because it can be part of a password that contains '?'.
      throw new PostgresUrlError(`has a parameter that is not one of ${PARAMETERS.join(', ')}`);
    }
    if (query.getAll(name).length > 1) throw new PostgresUrlError(`has the parameter ${name} twice`);
  }
  const part = (what: string, encoded: string) => {
    const value = decoded(what, encoded);
    if (value === '') throw new PostgresUrlError(`must name a ${what}`);
    return value;
  };
  return Object.freeze({
    kind: 'postgres',
    host: query.get('host') || part('host', url.hostname.replace(/^\[(.*)\]$/, '$1')),
    port: url.port === '' ? 5432 : Number(url.port),
    user: part('user', url.username),
    password: url.password === '' ? undefined : new Secret(decoded('password', url.password)),
    database: part('database', url.pathname.slice(1)),
    tls: tlsOf(query),
    poolSize: integer(query, 'pool_size', 1, 1000) ?? 10,
    connectTimeoutMs: (integer(query, 'connect_timeout', 1, 600) ?? 5) * 1000,
    statementTimeoutMs: integer(query, 'statement_timeout', 1, 3_600_000) ?? 10_000,
  } satisfies PostgresSettings);
}

function decoded(what: string, encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new PostgresUrlError(`has a ${what} with a % that is not written as %25`);
  }
}

function integer(query: URLSearchParams, name: string, minimum: number, maximum: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new PostgresUrlError(`has a ${name} that is not an integer from ${minimum} to ${maximum}`);
}

function tlsOf(query: URLSearchParams): PostgresTls | undefined {
  const given = query.get('sslmode') ?? 'disable';
  const mode = TLS_MODES.find((each) => each === given);
  if (mode === undefined)
    throw new PostgresUrlError(`has an sslmode that is not one of ${TLS_MODES.join(', ')}`);
  const [rootCertFile, certFile, keyFile] = TLS_FILES.map((name) => query.get(name) ?? undefined);
  if (mode === 'disable') {
    const file = TLS_FILES.find((name) => query.has(name));
    if (file !== undefined)
      throw new PostgresUrlError(`has ${file}, which needs an sslmode other than disable`);
    return undefined;
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new PostgresUrlError('must have both sslcert and sslkey, or neither');
  }
  return Object.freeze({ mode, rootCertFile, certFile, keyFile });
}
