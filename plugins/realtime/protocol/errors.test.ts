import { describe, expect, it } from 'vitest';
import { ERROR_KINDS, type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { serverEventFault } from '../../../tools/trace-check/frame-schema.ts';
import { ERROR_TYPES, type RealtimeErrorCode } from './error-codes.ts';
import { errorEvent, invalidEvent, toWireError, unsupportedFeature } from './errors.ts';

const CODES = Object.keys(ERROR_TYPES) as RealtimeErrorCode[];

describe('the error event', () => {
  it.each(CODES)('tells %s with its type, and whose event it was', (code) => {
    const event = errorEvent({ code, message: 'No.', param: 'session.type' }, 'c1');
    expect(event).toEqual({
      type: 'error',
      error: { type: ERROR_TYPES[code], code, message: 'No.', param: 'session.type', event_id: 'c1' },
    });
    expect(serverEventFault({ ...event, event_id: 'event_1' }, 'spec')).toBeUndefined();
  });

  it('has null where there is no field and no id', () => {
    expect(errorEvent(invalidEvent('No.'), null)).toMatchObject({ error: { param: null, event_id: null } });
    expect(errorEvent(unsupportedFeature('No.'), null)).toMatchObject({
      error: { type: 'invalid_request_error', code: 'unsupported_feature' },
    });
  });
});

describe('the failure of an engine', () => {
  it.each(Object.keys(ERROR_KINDS) as ErrorKind[])('of the kind %s is told in its own words', (kind) => {
    const code = kind === 'internal' ? 'internal_error' : 'upstream_error';
    expect(toWireError(new ServiceError(kind, 'The queue is full.'))).toEqual({
      type: 'server_error',
      code,
      message: 'The queue is full.',
    });
  });

  it.each([
    new Error('said: my secret'),
    new TypeError('my secret'),
    'my secret',
    undefined,
    null,
    { message: 'my secret' },
  ])('tells nothing of what is not ours: %s', (thrown) => {
    const failure = toWireError(thrown);
    expect(failure).toMatchObject({ type: 'server_error', code: 'internal_error' });
    expect(failure.message).not.toContain('secret');
  });
});
