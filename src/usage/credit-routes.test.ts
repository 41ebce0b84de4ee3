import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY_B, type TestApp, testApp } from '../../test/harness/test-app.ts';
import { SPEECH_PRICE, speechCall } from '../../tools/harness/doubles/usage-parts.ts';

let service: TestApp;
beforeEach(() => {
  service = testApp({ prices: [SPEECH_PRICE] });
});
afterEach(() => service.close());

async function credits(headers?: Record<string, string>): Promise<unknown> {
  const response = await service.send('/v1/credits', headers === undefined ? {} : { headers });
  expect(response.status).toBe(200);
  return response.json();
}

describe('GET /v1/credits', () => {
  it('is zero for an organization without credits', async () => {
    expect(await credits()).toEqual({ object: 'credits', balance: 0, reserved: 0 });
  });

  it('reports when all calls are free', async () => {
    const app = testApp({ prices: [{ ...SPEECH_PRICE, request: 0n, character: 0n }] });
    const response = await app.send('/v1/credits');
    app.close();
    expect(await response.json()).toEqual({ object: 'credits', balance: 0, reserved: 0, free: true });
  });

  it('reports available and reserved credits', async () => {
    await service.credits.grant('a', 12_500_000, 0);
    expect(await credits()).toEqual({ object: 'credits', balance: 12.5, reserved: 0 });
    const call = await service.calls.openCall(speechCall(250_000 - 2));
    expect(await credits()).toEqual({ object: 'credits', balance: 12.25, reserved: 0.25 });
    await call.close({ status: 'completed', inputTokens: 0, outputTokens: 0, characters: 99_998 });
    expect(await credits()).toEqual({ object: 'credits', balance: 12.4, reserved: 0 });
  });

  it('reports only the own organization', async () => {
    await service.credits.grant('a', 1_000_000, 0);
    expect(await credits({ 'x-api-key': KEY_B })).toMatchObject({ balance: 0 });
  });

  it('requires a key, and ignores parameters', async () => {
    expect((await service.send('/v1/credits', { headers: {} })).status).toBe(401);
    const [plain, other] = [await service.send('/v1/credits'), await service.send('/v1/credits?org=b')];
    expect([other.status, await other.json()]).toEqual([200, await plain.json()]);
  });
});
