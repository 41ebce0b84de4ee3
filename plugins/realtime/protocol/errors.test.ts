import { describe, expect, it } from 'vitest';
import { ERROR_KINDS, type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { serverEventError } from '../../../tools/trace-check/frame-schema.ts';
import { ERROR_TYPES, type RealtimeErrorCode } from './error-codes.ts';
import { errorEvent, invalidEvent, toWireError, unsupportedFeature } from './errors.ts';

const CODES = Object.keys(ERROR_TYPES) as RealtimeErrorCode[];

describe('the error event', () => {
  it.each(CODES)('for %s has its type and the id of the client event', (code) => {
    const event = errorEvent({ code, message: 'No.', param: 'session.type' }, 'c1');
    expect(event).toEqual({
      type: 'error',
      error: { type: ERROR_TYPES[code], code, message: 'No.', param: 'session.type', event_id: 'c1' },
    });
    expect(serverEventError({ ...event, event_id: 'event_1' }, 'spec')).toBeUndefined();
  });

  it('has null without a field or an id', () => {
    expect(errorEvent(invalidEvent('No.'), null)).toMatchObject({ error: { param: null, event_id: null } });
    expect(errorEvent(unsupportedFeature('No.'), null)).toMatchObject({
      error: { type: 'invalid_request_error', code: 'unsupported_feature' },
    });
  });
});

describe('the error of an engine', () => {
  it.each(Object.keys(ERROR_KINDS) as ErrorKind[])('of kind %s keeps its message', (kind) => {
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
  ])('is generic for unexpected errors: %s', (thrown) => {
    const failure = toWireError(thrown);
    expect(failure).toMatchObject({ type: 'server_error', code: 'internal_error' });
    expect(failure.message).not.toContain('secret');
  });
});
