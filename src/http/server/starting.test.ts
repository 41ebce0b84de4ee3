import { describe, expect, test } from 'vitest';
import { startingResponse } from './starting.ts';

const send = (path: string, init?: RequestInit) =>
  startingResponse(new Request(`http://service.test${path}`, init), ['speech']);

describe('during startup', () => {
  test('/healthz returns 200 and /readyz returns the starting plugins', async () => {
    expect(send('/healthz').status).toBe(200);
    const readyz = send('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toEqual({
      status: 'starting',
      plugins: { speech: { state: 'starting', ready: false } },
      models: {},
    });
  });

  test('every other path returns 503 with the error body', async () => {
    const response = send('/v1/audio/speech', { method: 'POST', body: '{}' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'server_overloaded' },
    });
  });
});
