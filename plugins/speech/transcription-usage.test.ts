import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { TRANSCRIPTIONS, transcriptionApp } from '../../test/harness/transcription-app.ts';

describe('usage', () => {
  it('is one row with what was heard and said', async () => {
    const { post, rows } = await transcriptionApp();
    const response = await post({});
    expect(rows).toEqual([
      {
        endpoint: TRANSCRIPTIONS,
        organization: 'a',
        requestId: response.headers.get('x-request-id'),
        model: 'svc-stt',
        status: 'completed',
        inputTokens: 13,
        outputTokens: 3,
        audioSeconds: 0.5,
        transcript: 'Ask not.',
      },
    ]);
  });

  it('of one that failed counts what was heard by then', async () => {
    const { post, rows, files } = await transcriptionApp();
    files.breaksAfter = 3;
    const response = await post({ prompt: 'Eight ch' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'file' } });
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 0.3, inputTokens: 5, outputTokens: 0 }]);
    expect(rows[0]).not.toHaveProperty('transcript');
  });

  it('has no row for a full queue', async () => {
    const overloaded = () => new ServiceError('overloaded', 'Full.', { retryAfterS: 2 });
    for (const options of [{ refusal: overloaded }, { deltas: [], failure: overloaded }]) {
      const { post, rows, calls } = await transcriptionApp(options);
      const response = await post({});
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect([rows, calls.openings.length, calls.unended]).toEqual([[], 1, 0]);
    }
  });

  it('is of a call that is open before the engine begins, for as long as the file says that it is', async () => {
    const { post, calls } = await transcriptionApp({ before: () => expect(calls.openings).toHaveLength(1) });
    await post({ prompt: 'Eight ch' });
    expect(calls.openings).toMatchObject([
      {
        endpoint: TRANSCRIPTIONS,
        maxUsage: { inputTokens: 7, outputTokens: 255, audioSeconds: 0.5 },
      },
    ]);
    expect(calls.unended).toBe(0);
  });

  it('is none when credits do not cover it', async () => {
    const { post, rows, engine, files } = await transcriptionApp(
      {},
      {
        opening() {
          throw new ServiceError('insufficient_quota', 'This may cost 2 credits.', {
            code: 'insufficient_quota',
          });
        },
      },
    );
    for (const stream of ['false', 'true']) {
      const response = await post({ stream });
      expect(response.status).toBe(429);
      expect(await response.json()).toMatchObject({
        error: {
          message: 'This may cost 2 credits.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      });
    }
    expect([engine.requests, rows, files.reading]).toEqual([[], [], 0]);
  });

  it('tells of a client that left', async () => {
    const controller = new AbortController();
    const { post, rows, staged } = await transcriptionApp({ before: () => controller.abort() });
    const response = await post({}, { signal: controller.signal });
    expect(response.status).toBe(499);
    expect(rows).toMatchObject([{ status: 'cancelled', audioSeconds: 0.5 }]);
    expect(staged()).toEqual([]);
  });
});

describe('places', () => {
  it('are taken before the upload is read, and given back', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, app } = await transcriptionApp(
      { before: () => gate.promise },
      { perOrganization: 1 },
    );
    const held = post({});
    await expect.poll(() => engine.requests.length).toBe(1);
    let pulled = false;
    const body = new ReadableStream(
      {
        pull() {
          pulled = true;
          return new Promise(() => undefined);
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'x-api-key': 'key-of-a', 'content-type': 'multipart/form-data; boundary=b' };
    const refused = await app.send(TRANSCRIPTIONS, { method: 'POST', headers, body });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(pulled).toBe(false);
    const other = post({}, { key: 'key-of-b' });
    gate.resolve();
    expect([(await held).status, (await other).status, (await post({})).status]).toEqual([200, 200, 200]);
  });

  it('for the decoder are waited for, and no organization has them all', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, files } = await transcriptionApp({ before: () => gate.promise });
    const ofA = Array.from({ length: 6 }, () => post({}));
    await expect.poll(() => engine.requests.length).toBe(files.maxOpen - 2);
    const ofB = Array.from({ length: 6 }, () => post({}, { key: 'key-of-b' }));
    await expect.poll(() => engine.requests.length).toBe(files.maxOpen);
    gate.resolve();
    const answers = await Promise.all([...ofA, ...ofB]);
    expect(answers.map(({ status }) => status)).toEqual(new Array(12).fill(200));
    expect(engine.requests).toHaveLength(12);
    expect(files.reading).toBe(0);
  });

  it('of a refused request are free again', async () => {
    const { post } = await transcriptionApp({}, { perOrganization: 1 });
    expect((await post({ temperature: '7' })).status).toBe(400);
    expect((await post({})).status).toBe(200);
  });

  it('are waited for at the end, and stopped when its time is over', async () => {
    const { post, transcriber, rows, engine } = await transcriptionApp({
      before: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    const answer = post({});
    await expect.poll(() => engine.heard).toEqual([8000]);
    await transcriber.drain(AbortSignal.abort());
    expect((await answer).status).toBe(503);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
  });
});
