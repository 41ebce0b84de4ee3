import { expect, test } from 'vitest';
import { type ErrorCode, type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { runFailure } from './run-error.ts';

const thrown = (kind: ErrorKind, code?: ErrorCode) => new ServiceError(kind, 'Why.', { code });

test.each([
  ['overloaded', thrown('overloaded')],
  ['rate limited', thrown('rate_limited')],
])('%s: later', (_, error) => expect(runFailure(error)).toEqual({ kind: 'hindered' }));

test.each([
  ['upstream_error', thrown('upstream', 'upstream_error')],
  ['timeout', thrown('timeout')],
  ['content_policy_violation', thrown('invalid_request', 'content_policy_violation')],
  ['generation_failed', thrown('invalid_request', 'invalid_value')],
])('%s: told to its owner as it is', (code, error) => {
  expect(runFailure(error)).toEqual({ kind: 'refused', error: { code, message: 'Why.' }, isOurs: false });
});

test.each([
  ['a process that died', thrown('internal', 'worker_crashed')],
  ['what nobody foresaw', new TypeError('a private word')],
  ['what is no error', 'a private word'],
])('%s: told as ours, without its words', (_, error) => {
  const failure = runFailure(error);
  expect(failure).toMatchObject({ kind: 'refused', isOurs: true, error: { code: 'generation_failed' } });
  expect(JSON.stringify(failure)).not.toMatch(/private|Why/);
});
