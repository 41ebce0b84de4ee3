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

describe('a choice', () => {
  test('is one of the allowed values, or absent', () => {
    expect(choiceIn('events', 'ga', ['spec', 'ga'])).toBe('ga');
    expect(choiceIn('events', undefined, ['spec', 'ga'])).toBeUndefined();
  });

  test.each(['AAA', '', 'GA', 'spec,ga'])('is rejected when it is "%s"', (text) => {
    const message = "'events' must be one of spec, ga.";
    expect(rejection(() => choiceIn('events', text, ['spec', 'ga']))).toEqual([
      ...['invalid_request', 'events', message],
    ]);
  });
});

describe('a boolean', () => {
  test('is true or false, or absent', () => {
    expect(['true', 'false', undefined].map((text) => booleanIn('stream', text))).toEqual([
      ...[true, false, undefined],
    ]);
  });

  test.each(['AAA', '', '1', 'True', 'null'])('is rejected when it is "%s"', (text) => {
    const message = "'stream' must be one of true, false.";
    expect(rejection(() => booleanIn('stream', text))).toEqual(['invalid_request', 'stream', message]);
  });
});

describe('a page', () => {
  const limits = { minimum: 1, maximum: 100, fallback: 20 };

  test('has defaults', () => {
    expect(pageIn({}, limits)).toEqual({ limit: 20, order: 'desc', after: undefined });
  });

  test('is what the query asks for', () => {
    const page = { limit: 5, order: 'asc', after: 'file-1' };
    expect(pageIn({ limit: '5', order: 'asc', after: 'file-1' }, limits)).toEqual(page);
  });

  test('with an empty `after` is the first page', () => {
    expect(pageIn({ after: '' }, limits).after).toBeUndefined();
  });

  test.each([
    ['limit', { limit: '' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '101' }],
    ['order', { order: '' }],
    ['order', { order: 'up' }],
  ])('with an invalid %s is rejected: %j', (param, query) => {
    expect(rejection(() => pageIn(query, limits))).toEqual([
      ...['invalid_request', param, expect.stringMatching(`^'${param}' must be `)],
    ]);
  });
});

test('a parameter among unknown ones may be given once', () => {
  expect(parameterOf(new URLSearchParams('model=x&events=ga'), 'events')).toBe('ga');
  expect(parameterOf(new URLSearchParams('model=x'), 'events')).toBeUndefined();
  const twice = new URLSearchParams('events=ga&events=ga');
  const message = "The query parameter 'events' is given more than once.";
  const refused = ['invalid_request', 'events', message];
  expect(rejection(() => parameterOf(twice, 'events'))).toEqual(refused);
  expect(rejection(() => readQuery(twice, ['events']))).toEqual(refused);
});
