import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../contract/core/error.ts';
import { booleanIn, choiceIn, pageIn, parameterOf, readQuery } from './query.ts';

function rejection(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.kind, error.param, error.message];
  }
}

describe('choiceIn', () => {
  test('returns an allowed value, or undefined if the parameter is absent', () => {
    expect(choiceIn('events', 'ga', ['spec', 'ga'])).toBe('ga');
    expect(choiceIn('events', undefined, ['spec', 'ga'])).toBeUndefined();
  });

  test.each(['AAA', '', 'GA', 'spec,ga'])('rejects "%s"', (text) => {
    const message = "'events' must be one of spec, ga.";
    expect(rejection(() => choiceIn('events', text, ['spec', 'ga']))).toEqual([
      ...['invalid_request', 'events', message],
    ]);
  });
});

describe('booleanIn', () => {
  test('returns a boolean, or undefined if the parameter is absent', () => {
    expect(['true', 'false', undefined].map((text) => booleanIn('stream', text))).toEqual([
      ...[true, false, undefined],
    ]);
  });

  test.each(['AAA', '', '1', 'True', 'null'])('rejects "%s"', (text) => {
    const message = "'stream' must be one of true, false.";
    expect(rejection(() => booleanIn('stream', text))).toEqual(['invalid_request', 'stream', message]);
  });
});

describe('pageIn', () => {
  const limits = { minimum: 1, maximum: 100, fallback: 20 };

  test('returns the defaults', () => {
    expect(pageIn({}, limits)).toEqual({ limit: 20, order: 'desc', after: undefined });
  });

  test('returns the parameters of the query', () => {
    const page = { limit: 5, order: 'asc', after: 'file-1' };
    expect(pageIn({ limit: '5', order: 'asc', after: 'file-1' }, limits)).toEqual(page);
  });

  test('an empty `after` is the first page', () => {
    expect(pageIn({ after: '' }, limits).after).toBeUndefined();
  });

  test.each([
    ['limit', { limit: '' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '101' }],
    ['order', { order: '' }],
    ['order', { order: 'up' }],
  ])('rejects an invalid %s: %j', (param, query) => {
    expect(rejection(() => pageIn(query, limits))).toEqual([
      ...['invalid_request', param, expect.stringMatching(`^'${param}' must be `)],
    ]);
  });
});

test('parameterOf rejects a duplicate parameter and ignores unknown ones', () => {
  expect(parameterOf(new URLSearchParams('model=x&events=ga'), 'events')).toBe('ga');
  expect(parameterOf(new URLSearchParams('model=x'), 'events')).toBeUndefined();
  const twice = new URLSearchParams('events=ga&events=ga');
  const message = "Duplicate query parameter 'events'.";
  const rejected = ['invalid_request', 'events', message];
  expect(rejection(() => parameterOf(twice, 'events'))).toEqual(rejected);
  const request = (query: string) => new Request(`http://service.test/v1/files?${query}`);
  expect(rejection(() => readQuery(request('events=ga&events=ga'), ['events']))).toEqual(rejected);
});

test('readQuery ignores parameters that clients add to every request', () => {
  const query = 'api-version=2026-01-01&api-version=2&limit=5&_=1&Limit=7';
  const request = new Request(`http://service.test/v1/files?${query}`);
  expect(readQuery(request, ['limit', 'after'])).toEqual({ limit: '5' });
});
