import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sttEngineCases } from '../../../../test/contract/stt-engine.cases.ts';
import { drippingResponse } from '../../../../test/doubles/dripping-response.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import {
  eventAnswer,
  type FakeSttUpstream,
  startFakeSttUpstream,
} from '../../../../tools/harness/upstreams/fake-stt-upstream.ts';
import { deadBaseUrl, startRawServer } from '../../../../tools/harness/upstreams/fake-upstream.ts';
import { Secret } from '../../../contract/core/secret.ts';
import type {
  AudioChunk,
  SttEngine,
  TextToken,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../contract/engines/engine.ts';
import { type UpstreamSttOptions, upstreamSttEngine } from './engine.ts';

const never = new AbortController().signal;
const REQUEST: TranscriptionRequest = {
  task: 'transcribe',
  timestamps: 'none',
  priority: 'interactive',
  fairnessKey: 'a',
};
const settings = (baseUrl: string, apiKey?: Secret) =>
  ({ kind: 'upstream', baseUrl, apiKey, model: 'secret-upstream-model' }) as const;

sttEngineCases('an upstream', async () => {
  const upstream = startFakeSttUpstream();
  const engine = upstreamSttEngine({ settings: settings(upstream.baseUrl), log: new RecordingLogger() });
  const speech = Float32Array.from({ length: 40_000 }, (_, at) => Math.sin(at / 20) / 4);
  return {
    engine,
    speech,
    async close() {
      await engine.close();
      await upstream.close();
    },
  };
});

let upstream: FakeSttUpstream;
let log: RecordingLogger;
beforeEach(() => {
  upstream = startFakeSttUpstream();
  log = new RecordingLogger();
});
afterEach(() => upstream.close());

function createEngine({ baseUrl = upstream.baseUrl, apiKey, ...options }: OpenOptions = {}): SttEngine {
  const engine = upstreamSttEngine({ settings: settings(baseUrl, apiKey), log, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

interface OpenOptions extends Partial<UpstreamSttOptions> {
  readonly baseUrl?: string;
  readonly apiKey?: Secret;
}

/** A quarter of a second. */
async function* audio(): AsyncGenerator<AudioChunk> {
  yield Float32Array.of(0, 0.5, -1, 1);
  yield 'pause';
  yield new Float32Array(3996);
}

async function collect(
  engine: SttEngine,
  fields: Partial<TranscriptionRequest> = {},
  signal = never,
): Promise<TranscriptionEvent[]> {
  const events: TranscriptionEvent[] = [];
  for await (const event of engine.transcribe(audio(), { ...REQUEST, ...fields }, signal)) events.push(event);
  return events;
}

async function transcript(...args: Parameters<typeof collect>): Promise<Transcript> {
  const last = (await collect(...args)).at(-1);
  if (last?.kind !== 'final') throw new Error('no final');
  return last.transcript;
}

const deltas = (events: readonly TranscriptionEvent[]) =>
  events.flatMap((event) => (event.kind === 'delta' ? [event.text] : []));

describe('the request', () => {
  it('is a form with a WAV file, with the model name and key of the configuration', async () => {
    await collect(createEngine({ apiKey: new Secret('upstream-key') }));
    const [seen] = upstream.seen;
    expect(seen?.path).toBe('/v1/audio/transcriptions');
    expect(seen?.headers.authorization).toBe('Bearer upstream-key');
    expect(seen?.fields).toEqual({ model: 'secret-upstream-model', response_format: 'json', stream: 'true' });
    const wav = seen?.wav ?? Buffer.of();
    expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([
      'RIFF',
      16_000,
      8000,
    ]);
    expect([0, 2, 4, 6].map((at) => wav.readInt16LE(44 + at))).toEqual([0, 16_384, -32_768, 32_767]);
  });

  it('contains only the requested options', async () => {
    const engine = createEngine();
    const fields = { language: 'de', prompt: 'Ahrensburg', temperature: 0.5 };
    await collect(engine, { ...fields, timestamps: 'word' });
    await collect(engine, { ...fields, task: 'translate', timestamps: 'segment' });
    expect(upstream.seen.map(({ path, fields: sent }) => [path, sent])).toEqual([
      [
        '/v1/audio/transcriptions',
        {
          model: 'secret-upstream-model',
          language: 'de',
          prompt: 'Ahrensburg',
          temperature: '0.5',
          response_format: 'verbose_json',
          'timestamp_granularities[]': ['word', 'segment'],
        },
      ],
      [
        '/v1/audio/translations',
        {
          model: 'secret-upstream-model',
          prompt: 'Ahrensburg',
          temperature: '0.5',
          response_format: 'verbose_json',
          'timestamp_granularities[]': ['segment'],
        },
      ],
    ]);
  });

  it('has one language or a list, and the keywords at the end of the prompt', async () => {
    const engine = createEngine();
    const hints = { prompt: 'On the coast.', keywords: ['Ahrensburg', 'HVV'] };
    await collect(engine, { ...hints, languages: ['en', 'de'] });
    await collect(engine, { ...hints, prompt: undefined, languages: ['de'] });
    await collect(engine, { ...hints, languages: ['en', 'de'], language: 'en' });
    await collect(engine, { ...hints, languages: ['en', 'de'], task: 'translate' });
    const base = { model: 'secret-upstream-model', response_format: 'json', stream: 'true' };
    const prompt = 'On the coast. Ahrensburg, HVV.';
    expect(upstream.seen.map(({ fields }) => fields)).toEqual([
      { ...base, prompt, 'languages[]': ['en', 'de'] },
      { ...base, prompt: 'Ahrensburg, HVV.', language: 'de' },
      { ...base, prompt, language: 'en' },
      { ...base, prompt },
    ]);
  });

  it('does not follow redirects, which could carry the key to another host', async () => {
    const other = startFakeSttUpstream();
    onTestFinished(() => other.close());
    upstream.answer(() => Response.redirect(`${other.baseUrl}/audio/transcriptions`, 307));
    await expect(collect(createEngine({ apiKey: new Secret('key') }))).rejects.toMatchObject({
      kind: 'upstream',
    });
    expect(other.seen).toEqual([]);
  });

  it('has a maximum duration of the audio', async () => {
    const engine = createEngine({ maxS: 0.25 });
    await collect(engine);
    await expect(collect(createEngine({ maxS: 0.2499 }))).rejects.toMatchObject({
      kind: 'payload_too_large',
    });
    expect(upstream.seen).toHaveLength(1);
  });
});

describe('streams', () => {
  it.each([
    [
      'OpenAI',
      [
        { type: 'transcript.text.delta', delta: 'Ask' },
        { type: 'transcript.text.delta', delta: ' n' },
        { type: 'transcript.text.delta', delta: 'ot' },
        { type: 'transcript.text.done', text: 'Ask not', usage: {} },
        '[DONE]',
      ],
    ],
    [
      'vLLM',
      [
        { object: 'transcription.chunk', choices: [{ delta: { content: ' Ask' } }] },
        { object: 'transcription.chunk', choices: [{ delta: { content: ' not' }, finish_reason: null }] },
        { object: 'transcription.chunk', choices: [{ delta: { content: '' }, finish_reason: 'stop' }] },
        '[DONE]',
      ],
    ],
    ['speaches', [{ text: 'Ask' }, { text: 'not' }]],
  ])('of %s become deltas of complete words', async (_, events) => {
    upstream.answer(() => eventAnswer(events));
    const all = await collect(createEngine());
    expect(deltas(all)).toEqual(['Ask', ' not']);
    expect(all.at(-1)).toMatchObject({ kind: 'final', transcript: { text: 'Ask not', durationS: 0.25 } });
  });

  it('in a script without spaces are not delayed', async () => {
    const events = ['你', '好世', '界。'].map((delta) => ({ type: 'transcript.text.delta', delta }));
    upstream.answer(() => eventAnswer([...events, { type: 'transcript.text.done', text: '你好世界。' }]));
    expect(deltas(await collect(createEngine()))).toEqual(['你', '好世', '界', '。']);
  });

  it('with text only in the final event are supported', async () => {
    upstream.answer(() => eventAnswer([{ type: 'transcript.text.done', text: ' Ask not ' }]));
    expect((await transcript(createEngine())).text).toBe('Ask not');
  });

  it('are parsed across chunk boundaries, line ends and comments', async () => {
    const text =
      ': hello\r\nevent: x\r\ndata: {"type":"transcript.text.delta",\r\ndata: "delta":"Grüße"}\r\n\r\nid: 1\ndata:{"type":"transcript.text.done","text":"Grüße"}\n\n';
    const bytes = new TextEncoder().encode(text);
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              for (let at = 0; at < bytes.length; at += 7) {
                controller.enqueue(bytes.slice(at, at + 7));
                await Bun.sleep(0);
              }
              controller.close();
            },
          }),
          { headers: { 'content-type': 'text/event-stream; charset=utf-8' } },
        ),
    );
    expect((await transcript(createEngine())).text).toBe('Grüße');
  });

  it('are passed on while they are generated', async () => {
    const gate = Promise.withResolvers<void>();
    const send = (controller: ReadableStreamDefaultController, event: object) =>
      controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              send(controller, { type: 'transcript.text.delta', delta: 'Ask not' });
              await gate.promise;
              send(controller, { type: 'transcript.text.done', text: 'Ask not' });
              controller.close();
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    );
    const events = createEngine().transcribe(audio(), REQUEST, never)[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ kind: 'delta', text: 'Ask' });
    gate.resolve();
    expect((await events.next()).value).toEqual({ kind: 'delta', text: ' not' });
    expect((await events.next()).value).toMatchObject({ kind: 'final' });
  });

  it.each([400, 422, 501])('are not requested again after a rejection with %i', async (status) => {
    upstream.answer(({ fields }) =>
      fields.stream ? new Response('{}', { status }) : Response.json({ text: 'Ask not' }),
    );
    const engine = createEngine();
    for (let request = 0; request < 2; request += 1) expect((await transcript(engine)).text).toBe('Ask not');
    expect(upstream.seen.map(({ fields }) => fields.stream)).toEqual(['true', undefined, undefined]);
  });

  it.each([
    ['ends prematurely', [{ type: 'transcript.text.delta', delta: 'Ask' }]],
    [
      'contains an error',
      [{ type: 'transcript.text.delta', delta: 'Ask' }, { error: { message: 'my diary' } }],
    ],
    ['contains invalid JSON', ['hello']],
    ['contains an event that is too long', [`{"text":"${'x'.repeat(5 * 1024 * 1024)}`]],
  ])('one that %s fails without the message of the upstream', async (_, events) => {
    upstream.answer(() => eventAnswer(events));
    const error = await collect(createEngine()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'upstream', code: 'upstream_error' });
    expect(String(error)).not.toContain('diary');
  });
});

describe('log probabilities', () => {
  const logprob = (token: string, fields: object = {}) => ({
    token,
    logprob: -0.5,
    bytes: [...Buffer.from(token)],
    ...fields,
  });
  const text = (delta: string, ...logprobs: object[]) => ({
    type: 'transcript.text.delta',
    delta,
    logprobs,
  });
  const done = (fields: object = {}) => ({ type: 'transcript.text.done', text: 'Ask not', ...fields });
  const shown = (tokens: readonly TextToken[] | undefined) =>
    tokens?.map(({ bytes, logProbability }) => [Buffer.from(bytes).toString(), logProbability]);

  it('are requested with include[]', async () => {
    await collect(createEngine(), { textTokens: true });
    await collect(createEngine(), { textTokens: true, timestamps: 'segment' });
    expect(upstream.seen.map(({ fields }) => fields['include[]'])).toEqual([['logprobs'], ['logprobs']]);
  });

  it('of a stream belong to its words', async () => {
    const all = [logprob('Ask'), logprob(' n'), logprob('ot', { bytes: null })];
    upstream.answer(() =>
      eventAnswer([
        text('Ask n', all[0] ?? {}, all[1] ?? {}),
        text('ot', all[2] ?? {}),
        done({ logprobs: all }),
      ]),
    );
    const events = await collect(createEngine(), { textTokens: true });
    expect(events.flatMap((event) => (event.kind === 'delta' ? [shown(event.tokens)] : []))).toEqual([
      [['Ask', -0.5]],
      [
        [' n', -0.5],
        ['ot', -0.5],
      ],
    ]);
    expect(events.at(-1)).toMatchObject({ transcript: { tokens: { length: 3 } } });
  });

  it('of the last event only are supported', async () => {
    const logprobs = [logprob('Ask'), logprob(' not')];
    upstream.answer(() => eventAnswer([{ ...text('Ask not'), logprobs: null }, done({ logprobs })]));
    expect(shown((await transcript(createEngine(), { textTokens: true })).tokens)).toEqual([
      ['Ask', -0.5],
      [' not', -0.5],
    ]);
  });

  it('of a json response are read, without the spaces around the text', async () => {
    const logprobs = [logprob(' Ask'), logprob(' not', { logprob: 0.001 }), logprob(' ')];
    upstream.answer(() => Response.json({ text: ' Ask not ', logprobs }));
    expect(shown((await transcript(createEngine(), { textTokens: true })).tokens)).toEqual([
      ['Ask', -0.5],
      [' not', 0],
    ]);
  });

  it.each([
    ['none', {}],
    ['null', { logprobs: null }],
    ['without numbers', { logprobs: [{ token: 'Ask' }] }],
    ['of another type', { logprobs: [7] }],
  ])('of a server with %s are not reported', async (_, fields) => {
    upstream.answer(() => Response.json({ text: 'Ask not', ...fields }));
    expect((await transcript(createEngine(), { textTokens: true })).tokens).toBeUndefined();
  });

  it('that were not requested are ignored', async () => {
    upstream.answer(() => eventAnswer([text('Ask not', logprob('Ask'), logprob(' not')), done()]));
    const events = await collect(createEngine());
    expect(events.map((event) => (event.kind === 'delta' ? event.tokens : event.transcript.tokens))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('of empty audio are none', async () => {
    async function* nothing(): AsyncGenerator<AudioChunk> {}
    const request = { ...REQUEST, textTokens: true };
    const events = await Array.fromAsync(createEngine().transcribe(nothing(), request, never));
    expect(events).toMatchObject([{ kind: 'final', transcript: { text: '', tokens: [] } }]);
    expect(upstream.seen).toEqual([]);
  });
});

describe('verbose responses', () => {
  it('have ascending times within the audio, even if the upstream sends others', async () => {
    upstream.answer(() =>
      Response.json({
        text: ' Ask not. ',
        language: 'German',
        duration: '0.25',
        segments: [
          {
            start: -1,
            end: 0.1,
            text: ' Ask',
            avg_logprob: -0.5,
            compression_ratio: 1.2,
            no_speech_prob: 0.1,
          },
          { start: '0.05', end: 99, text: ' not.', tokens: [1, 'x'], temperature: 0.2 },
        ],
        words: [
          { word: ' Ask', start: 0.1, end: 0.05 },
          { word: 'not.', start: 0.02, end: null },
        ],
      }),
    );
    const { text, language, segments, words } = await transcript(createEngine(), { timestamps: 'word' });
    expect([text, language]).toEqual(['Ask not.', 'de']);
    expect(segments).toEqual([
      {
        startS: 0,
        endS: 0.1,
        text: 'Ask',
        tokens: [],
        temperature: 0,
        averageLogProbability: -0.5,
        compressionRatio: 1.2,
        noSpeechProbability: 0.1,
      },
      {
        startS: 0.1,
        endS: 0.25,
        text: 'not.',
        tokens: [1],
        temperature: 0.2,
        averageLogProbability: 0,
        compressionRatio: 1,
        noSpeechProbability: 0,
      },
    ]);
    expect(words).toEqual([
      { word: 'Ask', startS: 0.1, endS: 0.1 },
      { word: 'not.', startS: 0.1, endS: 0.1 },
    ]);
  });

  it('without segments get one segment for the whole audio', async () => {
    upstream.answer(() => Response.json({ text: 'Ask not.' }));
    const { segments, words } = await transcript(createEngine(), { timestamps: 'word' });
    expect(segments).toMatchObject([{ startS: 0, endS: 0.25, text: 'Ask not.' }]);
    expect(words).toEqual([]);
  });

  it.each([
    ['an error page', '<html>'],
    ['an array', '[]'],
    ['another object', '{"texts":1}'],
    ['an empty body', ''],
    ['null', 'null'],
  ])('%s is not a transcript', async (_, body) => {
    upstream.answer(() => new Response(body));
    await expect(collect(createEngine())).rejects.toMatchObject({
      kind: 'upstream',
      message: /is not a transcript/,
    });
  });

  it('without an end are aborted', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) }),
        ),
    );
    await expect(collect(createEngine())).rejects.toMatchObject({ kind: 'upstream', message: /too long/ });
  });
});

describe('tokens', () => {
  it('are estimated here, independently of the upstream', async () => {
    upstream.answer(() => Response.json({ text: 'Ask not.', usage: { type: 'tokens', input_tokens: 999 } }));
    const { inputTokens, outputTokens } = await transcript(createEngine(), { prompt: 'Nine char' });
    expect([inputTokens, outputTokens]).toEqual([{ audio: 3, text: 3 }, 2]);
  });
});

describe('failures', () => {
  it('of the upstream become an error without its message, and the request is not repeated', async () => {
    const message = 'Model secret-upstream-model cannot hear: my diary.';
    upstream.answer(() => Response.json({ error: { message, type: 'server_error' } }, { status: 500 }));
    const error = await collect(createEngine()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'upstream', status: 502, code: 'upstream_error' });
    expect(String(error)).not.toMatch(/secret|diary/);
    expect(upstream.seen).toHaveLength(1);
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'upstream rejected the request',
        fields: { status: 500, error: 'server_error' },
      },
    ]);
  });

  it.each([
    [429, { kind: 'overloaded', retryAfterS: 7 }],
    [503, { kind: 'overloaded', retryAfterS: 7 }],
    [413, { kind: 'payload_too_large' }],
  ])('with status %i keep their meaning', async (status, expected) => {
    upstream.answer(() => new Response('no', { status, headers: { 'retry-after': '7' } }));
    await expect(collect(createEngine())).rejects.toMatchObject(expected);
  });

  it('after the start of the response are not retried', async () => {
    const server = startRawServer('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"te');
    onTestFinished(() => server.close());
    await expect(collect(createEngine({ baseUrl: server.baseUrl }))).rejects.toMatchObject({
      kind: 'upstream',
    });
  });

  it('to connect are retried, and make the engine not ready', async () => {
    const dead = createEngine({ baseUrl: await deadBaseUrl() });
    await expect(collect(dead)).rejects.toMatchObject({ kind: 'upstream' });
    expect(dead.ready().ready).toBe(false);

    const port = Number(new URL(await deadBaseUrl()).port);
    const answer = transcript(createEngine({ baseUrl: `http://127.0.0.1:${port}/v1` }));
    const late = Bun.serve({ hostname: '127.0.0.1', port, fetch: () => Response.json({ text: 'Ask not' }) });
    onTestFinished(() => late.stop(true));
    expect((await answer).text).toBe('Ask not');
  });

  it.each([
    ['comments', 'text/event-stream', ': ping\n\n'],
    ['white space instead of JSON', 'application/json', ' '],
  ])('to send more than %s end the request', async (_, contentType, drip) => {
    upstream.answer(() => drippingResponse(contentType, '', drip));
    // The duration of the recording is added.
    await expect(collect(createEngine({ firstPartMs: 50 }))).rejects.toMatchObject({ message: /timed out/ });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('to respond in time end the request', async () => {
    upstream.answer(() => new Promise(() => undefined));
    await expect(collect(createEngine({ firstPartMs: 50 }))).rejects.toMatchObject({ message: /timed out/ });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

describe('cancellation', () => {
  const silent = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          const event = { type: 'transcript.text.delta', delta: 'Ask not' };
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );

  it('by the signal or by ending the iteration closes the connection', async () => {
    upstream.answer(silent);
    const controller = new AbortController();
    const reason = new Error('hung up');
    const consume = async () => {
      for await (const _ of createEngine().transcribe(audio(), REQUEST, controller.signal))
        controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await expect.poll(() => upstream.cancelled).toBe(1);
    for await (const _ of createEngine().transcribe(audio(), REQUEST, never)) break;
    await expect.poll(() => upstream.cancelled).toBe(2);
  });

  it('by closing the engine fails running requests', async () => {
    upstream.answer(silent);
    const engine = createEngine();
    const consume = async () => {
      for await (const _ of engine.transcribe(audio(), REQUEST, never)) void engine.close();
    };
    await expect(consume()).rejects.toMatchObject({ kind: 'overloaded', code: 'server_overloaded' });
  });
});
