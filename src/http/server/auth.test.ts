import { describe, expect, it } from 'vitest';
import { keyFrom } from './auth.ts';

const codeOf = (headers: Record<string, string>): unknown => {
  try {
    keyFrom(new Headers(headers));
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
    expect(keyFrom(new Headers({ ...UPGRADE, 'sec-websocket-protocol': protocols }))).toBe('K1');
  });

  it('can contain dots', () => {
    const protocols = 'realtime, bearer.sk.a.b';
    expect(keyFrom(new Headers({ ...UPGRADE, 'sec-websocket-protocol': protocols }))).toBe('sk.a.b');
  });

  it('is rejected if a header contains another key', () => {
    const protocols = { ...UPGRADE, 'sec-websocket-protocol': 'realtime, bearer.K1' };
    expect(keyFrom(new Headers({ ...protocols, 'x-api-key': 'K1' }))).toBe('K1');
    expect(codeOf({ ...protocols, 'x-api-key': 'K2' })).toBe('invalid_api_key');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': 'bearer.K1, ext-insecure-api-key.K2' })).toBe(
      'invalid_api_key',
    );
  });

  it('is used only for WebSocket handshakes', () => {
    expect(codeOf({ 'sec-websocket-protocol': 'realtime, bearer.K1' })).toBe('missing_api_key');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': 'realtime, bearer.' })).toBe('missing_api_key');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': 'realtime' })).toBe('missing_api_key');
    expect(codeOf({ ...UPGRADE, 'sec-websocket-protocol': `realtime, bearer.${'k'.repeat(600)}` })).toBe(
      'invalid_api_key',
    );
  });
});
