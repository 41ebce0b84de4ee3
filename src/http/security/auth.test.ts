import { describe, expect, it } from 'vitest';
import { keysFrom } from './auth.ts';

const codeOf = (headers: Record<string, string>): unknown => {
  try {
    keysFrom(new Headers(headers), true);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
};

const UPGRADE = { connection: 'Upgrade', upgrade: 'WebSocket' };

describe('an API key in a subprotocol', () => {
  it.each([
    'realtime, ext-insecure-api-key.K1',
    'realtime, bearer.K1',
    'realtime,openai-insecure-api-key.K1,openai-organization.o,openai-project.p,openai-beta.realtime-v1',
    'bearer.K1 , realtime',
    'bearer.K1',
  ])('authenticates a WebSocket: %s', (protocols) => {
    expect(keysFrom(new Headers({ ...UPGRADE, 'sec-websocket-protocol': protocols }), true)).toEqual(['K1']);
  });

  it('can contain dots', () => {
    const protocols = 'realtime, bearer.sk.a.b';
    expect(keysFrom(new Headers({ ...UPGRADE, 'sec-websocket-protocol': protocols }), true)).toEqual([
      'sk.a.b',
    ]);
  });

  it('is one of the keys of the request', () => {
    const protocols = { ...UPGRADE, 'sec-websocket-protocol': 'realtime, bearer.K1' };
    expect(keysFrom(new Headers({ ...protocols, 'x-api-key': 'K1' }), true)).toEqual(['K1']);
    expect(keysFrom(new Headers({ ...protocols, 'x-api-key': 'K2' }), true)).toEqual(['K2', 'K1']);
    const two = { ...UPGRADE, 'sec-websocket-protocol': 'bearer.K1, ext-insecure-api-key.K2' };
    expect(keysFrom(new Headers(two), true)).toEqual(['K1', 'K2']);
  });

  it('is used only for WebSocket handshakes', () => {
    expect(codeOf({ 'sec-websocket-protocol': 'realtime, bearer.K1' })).toBe('missing_api_key');
    const upgrade = new Headers({ ...UPGRADE, 'sec-websocket-protocol': 'realtime, bearer.K1' });
    expect(() => keysFrom(upgrade, false)).toThrow(expect.objectContaining({ code: 'missing_api_key' }));
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': 'realtime, bearer.' })).toBe('missing_api_key');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': 'realtime' })).toBe('missing_api_key');
    const many = [1, 2, 3, 4, 5].map((index) => `bearer.K${index}`).join(', ');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': many })).toBe('invalid_api_key');
  });
});

describe('headers', () => {
  it.each([
    [{ authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': 'K1' }],
    [{ authorization: 'Negotiate abc', 'x-partner-secret': 'K1' }],
    [{ authorization: 'Bearer', 'x-api-key': 'K1' }],
    [{ authorization: 'Bearer   ', 'x-api-key': 'K1' }],
    [{ authorization: '', 'x-api-key': 'K1' }],
    [{ authorization: 'Bearer K1', 'x-api-key': ' ' }],
    [{ authorization: ' bearer \t K1 ', 'x-api-key': '  K1  ' }],
  ])('%j contain one key', (headers) => {
    expect(keysFrom(new Headers(headers as Record<string, string>), true)).toEqual(['K1']);
  });

  it('without a key are missing_api_key, and with only another scheme invalid_api_key', () => {
    expect(codeOf({})).toBe('missing_api_key');
    expect(codeOf({ authorization: 'Bearer ', 'x-api-key': ' ' })).toBe('missing_api_key');
    expect(codeOf({ authorization: 'Basic dXNlcjpwYXNz' })).toBe('invalid_api_key');
    expect(codeOf({ authorization: 'K1' })).toBe('invalid_api_key');
  });
});
