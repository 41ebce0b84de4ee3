import { describe, expect, test } from 'vitest';
import { startingAnswer } from './starting.ts';

const ask = (path: string, init?: RequestInit) =>
  startingAnswer(new Request(`http://service.test${path}`, init), ['speech']);

describe('before the app is there', () => {
  test('/healthz is fine and /readyz names what is awaited', async () => {
    expect(ask('/healthz').status).toBe(200);
    const readyz = ask('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toEqual({
      status: 'starting',
      plugins: { speech: { state: 'starting', ready: false } },
      models: {},
    });
  });

  test('everything else is asked to come again, in the one error body', async () => {
    const answer = ask('/v1/audio/speech', { method: 'POST', body: '{}' });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await answer.json()).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'server_overloaded' },
    });
  });
});
