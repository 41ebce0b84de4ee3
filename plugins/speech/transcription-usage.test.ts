import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { TRANSCRIPTIONS, transcriptionApp } from '../../test/harness/transcription-app.ts';

describe('usage', () => {
  it('is one row with the audio and the transcript', async () => {
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

  it('has no row for a file that is damaged before the first text', async () => {
    const { post, rows, files } = await transcriptionApp();
    files.breaksAfter = 3;
    const response = await post({ prompt: 'Eight ch' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'file' } });
    expect(rows).toEqual([]);
  });

  it('has no row if the queue is full', async () => {
    const overloaded = () => new ServiceError('overloaded', 'Full.', { retryAfterS: 2 });
    for (const options of [{ refusal: overloaded }, { deltas: [], failure: overloaded }]) {
      const { post, rows, calls } = await transcriptionApp(options);
      const response = await post({});
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect([rows, calls.openings.length, calls.unended]).toEqual([[], 1, 0]);
    }
  });

  it('opens a call before the engine starts and reserves the declared duration of the file', async () => {
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

  it('has no row if the credits do not cover the request', async () => {
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

  it('records a client that disconnects', async () => {
    const controller = new AbortController();
    const { post, rows, staged } = await transcriptionApp({ before: () => controller.abort() });
    const response = await post({}, { signal: controller.signal });
    expect(response.status).toBe(499);
    // There was no text yet.
    expect(rows).toMatchObject([{ status: 'cancelled', audioSeconds: 0, inputTokens: 0 }]);
    expect(staged()).toEqual([]);
  });
});

describe('request slots', () => {
  it('are reserved before the upload is read, and released', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, app } = await transcriptionApp(
      { before: () => gate.promise },
      { perOrganization: 1 },
    );
    const open = post({});
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
    const rejected = await app.send(TRANSCRIPTIONS, { method: 'POST', headers, body });
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(pulled).toBe(false);
    const other = post({}, { key: 'key-of-b' });
    gate.resolve();
    expect([(await open).status, (await other).status, (await post({})).status]).toEqual([200, 200, 200]);
  });

  it('of the decoder are queued, and no organization uses all of them', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, files } = await transcriptionApp({ before: () => gate.promise });
    const ofA = Array.from({ length: 6 }, () => post({}));
    await expect.poll(() => engine.requests.length).toBe(files.maxOpen - 2);
    const ofB = Array.from({ length: 6 }, () => post({}, { key: 'key-of-b' }));
    await expect.poll(() => engine.requests.length).toBe(files.maxOpen);
    gate.resolve();
    const responses = await Promise.all([...ofA, ...ofB]);
    expect(responses.map(({ status }) => status)).toEqual(new Array(12).fill(200));
    expect(engine.requests).toHaveLength(12);
    expect(files.reading).toBe(0);
  });

  it('of a rejected request are released', async () => {
    const { post } = await transcriptionApp({}, { perOrganization: 1 });
    expect((await post({ temperature: '7' })).status).toBe(400);
    expect((await post({})).status).toBe(200);
  });

  it('are waited for on drain, and aborted at the deadline', async () => {
    const { post, transcriber, rows, engine } = await transcriptionApp({
      before: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    const response = post({});
    await expect.poll(() => engine.heard).toEqual([8000]);
    await transcriber.open.drain(AbortSignal.abort());
    expect((await response).status).toBe(503);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
  });
});
