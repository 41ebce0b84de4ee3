import { expect, test } from 'vitest';
import { type ErrorCode, type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { toRunError } from './run-error.ts';

const thrown = (kind: ErrorKind, code?: ErrorCode) => new ServiceError(kind, 'Why.', { code });

test.each([
  ['overloaded', thrown('overloaded')],
  ['rate limited', thrown('rate_limited')],
])('%s is retryable', (_, error) => expect(toRunError(error)).toEqual({ kind: 'retryable' }));

test.each([
  ['upstream_error', thrown('upstream', 'upstream_error')],
  ['timeout', thrown('timeout')],
  ['content_policy_violation', thrown('invalid_request', 'content_policy_violation')],
  ['generation_failed', thrown('invalid_request', 'invalid_value')],
])('%s is reported with its message', (code, error) => {
  expect(toRunError(error)).toEqual({
    kind: 'rejected',
    error: { code, message: 'Why.' },
    isInternal: false,
  });
});

test.each([
  ['a crashed worker', thrown('internal', 'worker_crashed')],
  ['an unexpected error', new TypeError('a private word')],
  ['a value that is not an error', 'a private word'],
])('%s is internal and its message is not exposed', (_, error) => {
  const failure = toRunError(error);
  expect(failure).toMatchObject({ kind: 'rejected', isInternal: true, error: { code: 'generation_failed' } });
  expect(JSON.stringify(failure)).not.toMatch(/private|Why/);
});
