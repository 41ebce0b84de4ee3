import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bind } from '../../../src/http/route.ts';
import { EventLoopYielder } from '../../../src/kit/async/event-loop-yielder.ts';
import { FRONT_ENDS } from '../../../src/text/front-end.ts';
import { type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { normalizeRoutes } from './normalize-routes.ts';

const TAGS = FRONT_ENDS.map(({ language }) => language).join(', ');

let app: TestApp;
beforeEach(() => {
  const opened = testApp({
    routes: [bind(normalizeRoutes(40), { yielder: new EventLoopYielder(new ManualClock()) })],
  });
  onTestFinished(() => opened.close());
  app = opened;
});

async function normalize(body: unknown, headers: Record<string, string> = { 'x-api-key': 'key-of-a' }) {
  const response = await app.send('/v1/audio/normalize', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe('POST /v1/audio/normalize', () => {
  it.each([
    [{ input: 'It costs $5. See p. 3.' }, 'en-US', 'It costs five dollars. See page three.'],
    [{ input: 'Cuesta 5 €.', language: 'es_MX' }, 'es', 'Cuesta cinco euros.'],
    [{ input: '7:45', language: 'EN-gb' }, 'en-GB', 'seven forty-five'],
    [{ input: '१२ बजे', language: null }, 'hi', 'बारह बजे'],
    [{ input: 'Line 1\nline 2', language: ' ' }, 'en-US', 'Line one line two'],
    [{ input: '…' }, 'en-US', ''],
    [{ input: 'Le concert commence à 20 h.' }, 'fr', 'Le concert commence à vingt heures.'],
    [{ input: 'Hay 3.\n¿Cuántos libros hay? Son 2.' }, 'es', 'Hay tres. ¿Cuántos libros hay? Son dos.'],
  ])('reads %j', async (body, language, spoken) => {
    expect(await normalize(body)).toEqual({ status: 200, body: { language, spoken } });
  });

  it.each([
    [{}, 'input', 'required'],
    [{ input: 5 }, 'input', 'string'],
    [{ input: ' ' }, 'input', 'blank'],
    [{ input: 'a'.repeat(41) }, 'input', 'at most 40 characters; it has 41'],
    [{ input: 'a', language: 'tlh' }, 'language', TAGS],
    [{ input: 'a', language: 5 }, 'language', 'string'],
  ])('rejects %j', async (body, param, message) => {
    const refused = await normalize(body);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: { type: 'invalid_request_error', param } });
    expect(JSON.stringify(refused.body)).toContain(message);
  });

  it('needs a key', async () => {
    expect(await normalize({ input: 'a' }, {})).toMatchObject({ status: 401 });
  });
});
