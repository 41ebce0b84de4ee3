import { Database } from 'bun:sqlite';
import { expect, test } from 'vitest';
import { invalidRequest } from '../../contract/core/error.ts';
import { toRecordsError, withErrorCallback } from './query-errors.ts';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

test.each([
  ['ECONNREFUSED'],
  ['ECONNRESET'],
  ['ENOTFOUND'],
  ['EPIPE'],
  ['08006'],
  ['40001'],
  ['40P01'],
  ['53300'],
  ['55P03'],
  ['57014'],
  ['57P03'],
])('%s is transient: overloaded', (code) => {
  const error = coded(code);
  expect(toRecordsError(error)).toMatchObject({ kind: 'overloaded', retryAfterS: 1, cause: error });
});

test.each([['23505'], ['42P01'], ['22021'], ['58030'], ['XX000'], ['']])(
  '%s is not transient: internal',
  (code) => {
    const error = coded(code, 'duplicate key value: private text');
    const failure = toRecordsError(error);
    expect(failure).toMatchObject({ kind: 'internal', cause: error });
    expect(failure.message).not.toContain('private');
  },
);

test.each([
  ['timeout exceeded when trying to connect'],
  ['Connection terminated unexpectedly'],
  ['Query read timeout'],
])('%s: overloaded', (message) => {
  expect(toRecordsError(new Error(message))).toMatchObject({ kind: 'overloaded' });
});

test('an AggregateError is transient only if all its errors are', () => {
  const connectionRefused = coded('ECONNREFUSED');
  expect(toRecordsError(new AggregateError([connectionRefused, connectionRefused]))).toMatchObject({
    kind: 'overloaded',
  });
  expect(toRecordsError(new AggregateError([connectionRefused, coded('42P01')]))).toMatchObject({
    kind: 'internal',
  });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('a full SQLite database is overloaded', () => {
  const database = new Database(':memory:');
  database.run('CREATE TABLE words (word TEXT)');
  database.run('PRAGMA max_page_count = 3');
  const full = caught(() => database.run('INSERT INTO words VALUES (zeroblob(100000))'));
  database.close();
  expect(full).toMatchObject({ code: 'SQLITE_FULL' });
  expect(toRecordsError(full)).toMatchObject({
    kind: 'overloaded',
    retryAfterS: 30,
    cause: full,
    message: 'Server storage is full. Retry later.',
  });
});

test('a full disk of PostgreSQL is named', () => {
  expect(toRecordsError(coded('53100'))).toMatchObject({ message: 'Server storage is full. Retry later.' });
});

test('a locked SQLite file is overloaded, an invalid statement is internal', () => {
  const database = new Database(':memory:');
  const wrong = caught(() => database.run('SELECT * FROM nothing_here'));
  database.close();
  expect(toRecordsError(wrong)).toMatchObject({ kind: 'internal', cause: wrong });
  const busy = Object.create(wrong as object, { code: { value: 'SQLITE_BUSY' } });
  expect(toRecordsError(busy)).toMatchObject({ kind: 'overloaded' });
});

test('a ServiceError is unchanged, and any thrown value is accepted', () => {
  const ours = invalidRequest('no');
  expect(toRecordsError(ours)).toBe(ours);
  expect(toRecordsError('text')).toMatchObject({ kind: 'internal' });
});

test('the callback is called for database errors, but not for ServiceErrors', () => {
  const reported: unknown[] = [];
  const convertError = withErrorCallback((error) => reported.push(error));
  const lost = coded('ECONNRESET');
  expect(convertError(lost)).toMatchObject({ kind: 'overloaded' });
  expect(convertError(invalidRequest('no'))).toMatchObject({ kind: 'invalid_request' });
  expect(reported).toEqual([lost]);
});
