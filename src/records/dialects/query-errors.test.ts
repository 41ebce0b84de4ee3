import { Database } from 'bun:sqlite';
import { expect, test } from 'vitest';
import { invalidRequest } from '../../contract/core/error.ts';
import { recordsFailure, toldFailures } from './failures.ts';

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
])('%s may pass: overloaded', (code) => {
  const error = coded(code);
  expect(recordsFailure(error)).toMatchObject({ kind: 'overloaded', retryAfterS: 1, cause: error });
});

test.each([['23505'], ['42P01'], ['22021'], ['58030'], ['XX000'], ['']])('%s does not: internal', (code) => {
  const error = coded(code, 'duplicate key value: private text');
  const failure = recordsFailure(error);
  expect(failure).toMatchObject({ kind: 'internal', cause: error });
  expect(failure.message).not.toContain('private');
});

test.each([
  ['timeout exceeded when trying to connect'],
  ['Connection terminated unexpectedly'],
  ['Query read timeout'],
])('%s: overloaded', (message) => {
  expect(recordsFailure(new Error(message))).toMatchObject({ kind: 'overloaded' });
});

test('several addresses of one server are as good as the worst of them', () => {
  const refused = coded('ECONNREFUSED');
  expect(recordsFailure(new AggregateError([refused, refused]))).toMatchObject({ kind: 'overloaded' });
  expect(recordsFailure(new AggregateError([refused, coded('42P01')]))).toMatchObject({ kind: 'internal' });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('a file that has no more room is overloaded: room comes back', () => {
  const database = new Database(':memory:');
  database.run('CREATE TABLE words (word TEXT)');
  database.run('PRAGMA max_page_count = 3');
  const full = caught(() => database.run('INSERT INTO words VALUES (zeroblob(100000))'));
  database.close();
  expect(full).toMatchObject({ code: 'SQLITE_FULL' });
  expect(recordsFailure(full)).toMatchObject({ kind: 'overloaded', cause: full });
});

test('a file that stays busy is overloaded, a broken statement internal', () => {
  const database = new Database(':memory:');
  const wrong = caught(() => database.run('SELECT * FROM nothing_here'));
  database.close();
  expect(recordsFailure(wrong)).toMatchObject({ kind: 'internal', cause: wrong });
  const busy = Object.create(wrong as object, { code: { value: 'SQLITE_BUSY' } });
  expect(recordsFailure(busy)).toMatchObject({ kind: 'overloaded' });
});

test('what a caller may see stays as it is, and anything may be thrown', () => {
  const ours = invalidRequest('no');
  expect(recordsFailure(ours)).toBe(ours);
  expect(recordsFailure('text')).toMatchObject({ kind: 'internal' });
});

test('failures of the engine are told, those of a caller are not', () => {
  let told = 0;
  const failureOf = toldFailures(() => {
    told += 1;
  });
  expect(failureOf(coded('ECONNRESET'))).toMatchObject({ kind: 'overloaded' });
  expect(failureOf(invalidRequest('no'))).toMatchObject({ kind: 'invalid_request' });
  expect(told).toBe(1);
});
