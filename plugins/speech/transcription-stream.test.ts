import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { AUDIO, transcriptionApp, USAGE } from '../../test/harness/transcription-app.ts';

/** The `data` of each event. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const records = (await response.text()).split('\n\n').filter((record) => record !== '');
  return records.map((record) => JSON.parse(record.slice(record.indexOf('data: ') + 6)));
}

describe('a stream', () => {
  it('has deltas that add up to the text, and the text', async () => {
    const { post, rows, staged } = await transcriptionApp({ deltas: ['Ask', ' not,', ' "my"\nfriend'] });
    const response = await post({ stream: 'true' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await eventsOf(response)).toEqual([
      { type: 'transcript.text.delta', delta: 'Ask' },
      { type: 'transcript.text.delta', delta: ' not,' },
      { type: 'transcript.text.delta', delta: ' "my"\nfriend' },
      { type: 'transcript.text.done', text: 'Ask not, "my"\nfriend', usage: USAGE },
    ]);
    expect(rows).toHaveLength(1);
    expect(staged()).toEqual([]);
  });

  it('without text has only its last event', async () => {
    const { post } = await transcriptionApp({ deltas: [] });
    expect(await eventsOf(await post({ stream: 'true', response_format: 'text' }))).toEqual([
      { type: 'transcript.text.done', text: '', usage: USAGE },
    ]);
  });

  it('is sent during transcription', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, rows } = await transcriptionApp({
      before: (delta) => (delta === 1 ? gate.promise : undefined),
    });
    const reader = (await post({ stream: 'true' })).body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toBe('data: {"type":"transcript.text.delta","delta":"Ask"}\n\n');
    expect(rows).toEqual([]);
    gate.resolve();
    while (!(await reader?.read())?.done);
    expect(rows).toHaveLength(1);
  });

  it('that fails before its first event sets the HTTP status', async () => {
    const { post } = await transcriptionApp({
      deltas: [],
      failure: () => new ServiceError('upstream', 'Failed.'),
    });
    expect((await post({ stream: 'true' })).status).toBe(502);
  });

  it('that fails later ends with an error event that SDKs throw', async () => {
    const { post, rows, log, staged, app } = await transcriptionApp({
      failure: () => new ServiceError('internal', 'The model crashed.', { code: 'worker_crashed' }),
    });
    const text = await (await post({ stream: 'true' })).text();
    expect(text).toMatch(/\n\nevent: error\ndata: \{"error":\{"message":"The model crashed."/);
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 0.5, transcript: 'Ask not.' }]);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'transcription failed in its stream' }]);
    expect(staged()).toEqual([]);

    const client = new OpenAI({
      apiKey: 'key-of-a',
      baseURL: 'http://service.test/v1',
      maxRetries: 0,
      fetch: (url, init) => Promise.resolve(app.app.handle(new Request(url as string, init as RequestInit))),
    });
    const stream = await client.audio.transcriptions.create({ file: AUDIO, model: 'svc-stt', stream: true });
    const consume = async () => {
      for await (const event of stream) expect(event.type).toBe('transcript.text.delta');
    };
    await expect(consume()).rejects.toMatchObject({ code: 'worker_crashed', type: 'server_error' });
  });

  it('stops the engine when the client disconnects', async () => {
    const { post, rows, engine, staged, files } = await transcriptionApp({
      deltas: new Array(100).fill('word '),
      before: (delta, signal) =>
        delta < 2 ? undefined : new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    const reader = (await post({ stream: 'true' })).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(engine.leftEarly).toBe(1);
    expect(rows).toMatchObject([
      { status: 'cancelled', audioSeconds: 0.5, transcript: expect.stringMatching(/^word /) },
    ]);
    expect([staged(), files.reading]).toEqual([[], 0]);
  });
});
