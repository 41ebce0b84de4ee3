import { describe, expect, test } from 'vitest';
import { PostgresUrlError, parsePostgresUrl } from './postgres-url.ts';

describe('a PostgreSQL URL', () => {
  test('sets the connection parameters, with defaults for the rest', () => {
    const settings = parsePostgresUrl('postgres://svc:hunter2@db.internal/records');
    expect(settings).toMatchObject({
      kind: 'postgres',
      host: 'db.internal',
      port: 5432,
      user: 'svc',
      database: 'records',
      tls: undefined,
      poolSize: 10,
      connectTimeoutMs: 5000,
      statementTimeoutMs: 10_000,
    });
    expect(settings.password?.reveal()).toBe('hunter2');
    expect(JSON.stringify(settings)).not.toContain('hunter2');
  });

  test('can set all parameters, percent-encoded', () => {
    const settings = parsePostgresUrl(
      'postgresql://s%40v:p%3Fw%2F@[::1]:6432/re%20cords?pool_size=3&connect_timeout=2&statement_timeout=700&sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem',
    );
    expect(settings).toMatchObject({ host: '::1', port: 6432, user: 's@v', database: 're cords' });
    expect(settings).toMatchObject({ poolSize: 3, connectTimeoutMs: 2000, statementTimeoutMs: 700 });
    expect(settings.password?.reveal()).toBe('p?w/');
    expect(settings.tls).toEqual({
      mode: 'verify-full',
      rootCertFile: '/ca.pem',
      certFile: '/c.pem',
      keyFile: '/k.pem',
    });
  });

  test('can omit the password and use a socket folder as host', () => {
    const settings = parsePostgresUrl('postgres://svc@localhost/records?host=/run/postgresql');
    expect(settings).toMatchObject({ host: '/run/postgresql', user: 'svc', password: undefined });
  });

  test.each([
    ['hunter2', 'must be a URL such as postgres://'],
    ['mysql://u:hunter2@db/x', 'must be a URL such as postgres://'],
    ['postgres://u:hunter2@db', 'must name a database'],
    ['postgres://:hunter2@db/x', 'must name a user'],
    ['postgres:///x', 'must name a host'],
    ['postgres://u:hunter2%@db/x', 'has a password with a % that is not written as %25'],
    ['postgres://u:p@db/x?hunter2=1', 'has a parameter that is not one of host, sslmode,'],
    ['postgres://u:p@db/x?pool_size=1&pool_size=2', 'has the parameter pool_size twice'],
    ['postgres://u:p@db/x?pool_size=0', 'has a pool_size that is not an integer from 1 to 1000'],
    ['postgres://u:p@db/x?connect_timeout=hunter2', 'has a connect_timeout that is not an integer'],
    ['postgres://u:p@db/x?statement_timeout=', 'has a statement_timeout that is not an integer'],
    ['postgres://u:p@db/x?sslmode=prefer', 'has an sslmode that is not one of disable, require,'],
    ['postgres://u:p@db/x?sslrootcert=/ca.pem', 'has sslrootcert, which needs an sslmode other than disable'],
    ['postgres://u:p@db/x?sslmode=require&sslcert=/c.pem', 'must have both sslcert and sslkey, or neither'],
  ])('%s %s', (url, words) => {
    const read = () => parsePostgresUrl(url);
    expect(read).toThrow(PostgresUrlError);
    expect(read).toThrow(words);
    expect(read).not.toThrow('hunter2');
  });
});
