import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { TextToken } from '../../src/contract/engines/engine.ts';
import { AUDIO, TRANSLATIONS, transcriptionApp, USAGE } from '../../test/harness/transcription-app.ts';

/** Requests of the unmodified OpenAI package, and literal ones. */

const token = (text: string, logProbability: number): TextToken => ({
  bytes: [...Buffer.from(text)],
  logProbability,
});
const TOKENS = [[token('Ask', -0.5)], [token(' no', -0.25), token('t.', -0.125)]];
const LOGPROBS = [
  { token: 'Ask', logprob: -0.5, bytes: [65, 115, 107] },
  { token: ' no', logprob: -0.25, bytes: [32, 110, 111] },
  { token: 't.', logprob: -0.125, bytes: [116, 46] },
];

async function withClient(options: Parameters<typeof transcriptionApp>[0] = { tokens: TOKENS }) {
  const context = await transcriptionApp(options);
  const client = new OpenAI({
    apiKey: 'key-of-a',
    baseURL: 'http://service/v1',
    maxRetries: 0,
    fetch: (url, init) => context.app.send(new URL(String(url)).pathname, init),
  });
  return { ...context, client };
}

describe('log probabilities', () => {
  it('are in json and in verbose_json', async () => {
    const { client } = await withClient();
    const request = { file: AUDIO, model: 'svc-stt', include: ['logprobs'] } as const;
    const json = await client.audio.transcriptions.create({ ...request, include: ['logprobs'] });
    expect(json).toEqual({ text: 'Ask not.', logprobs: LOGPROBS, usage: USAGE });
    const verbose = await client.audio.transcriptions.create({
      ...request,
      include: ['logprobs'],
      response_format: 'verbose_json',
    });
    expect(verbose).toMatchObject({ text: 'Ask not.', logprobs: LOGPROBS });
  });

  it('are in the events of a stream', async () => {
    const { client } = await withClient();
    const stream = await client.audio.transcriptions.create({
      file: AUDIO,
      model: 'svc-stt',
      include: ['logprobs'],
      stream: true,
    });
    expect(await Array.fromAsync(stream)).toEqual([
      { type: 'transcript.text.delta', delta: 'Ask', logprobs: LOGPROBS.slice(0, 1) },
      { type: 'transcript.text.delta', delta: ' not.', logprobs: LOGPROBS.slice(1) },
      { type: 'transcript.text.done', text: 'Ask not.', logprobs: LOGPROBS, usage: USAGE },
    ]);
  });

  it('are absent unless they are requested', async () => {
    const { post, engine } = await transcriptionApp({ tokens: TOKENS });
    expect(await (await post({})).json()).not.toHaveProperty('logprobs');
    expect(await (await post({ stream: 'true' })).text()).not.toContain('logprobs');
    expect(engine.requests.map(({ textTokens }) => textTokens)).toEqual([false, false]);
  });

  it('of an empty text are an empty list', async () => {
    const { post } = await transcriptionApp({ deltas: [], tokens: [] });
    expect(await (await post({ 'include[]': 'logprobs' })).json()).toMatchObject({ text: '', logprobs: [] });
  });

  it('are absent if the engine reports none', async () => {
    const { post } = await transcriptionApp();
    expect(await (await post({ 'include[]': 'logprobs' })).json()).toEqual({
      text: 'Ask not.',
      usage: USAGE,
    });
  });

  it('of a translation are those of the English text', async () => {
    const { post } = await transcriptionApp({ tokens: TOKENS });
    const response = await post({ 'include[]': 'logprobs' }, { path: TRANSLATIONS });
    expect(await response.json()).toMatchObject({ logprobs: LOGPROBS });
  });
});

describe('the fields of gpt-transcribe', () => {
  it('are accepted as the OpenAI package sends them', async () => {
    const { client, engine } = await withClient({});
    await client.audio.transcriptions.create({
      file: AUDIO,
      model: 'svc-stt',
      languages: ['en', 'de'],
      keywords: ['Blankenese', 'HVV'],
      chunking_strategy: {
        type: 'server_vad',
        threshold: 0.4,
        prefix_padding_ms: 300,
        silence_duration_ms: 200,
      },
    });
    expect(engine.requests).toMatchObject([{ languages: ['en', 'de'], keywords: ['Blankenese', 'HVV'] }]);
  });
});

describe('a response of', () => {
  it.each([
    ['whisper-1', { text: 'Ask not.', usage: { type: 'duration', seconds: 1 } }],
    ['gpt-4o-transcribe', { text: 'Ask not.', usage: USAGE }],
    ['gpt-4o-mini-transcribe-2025-12-15', { text: 'Ask not.', usage: USAGE }],
    ['gpt-transcribe', { text: 'Ask not.', languages: [{ code: 'en' }], usage: USAGE }],
  ])('%s has the fields of OpenAI', async (model, body) => {
    const { post } = await transcriptionApp({}, { models: [model] });
    expect(await (await post({ model })).json()).toEqual(body);
  });

  it('gpt-transcribe without speech has no language', async () => {
    const { post } = await transcriptionApp(
      { deltas: [], final: { language: undefined } },
      { models: ['gpt-transcribe'] },
    );
    expect(await (await post({ model: 'gpt-transcribe' })).json()).toMatchObject({ text: '', languages: [] });
    expect(await (await post({ model: 'gpt-transcribe', stream: 'true' })).text()).toContain(
      '"languages":[]',
    );
  });

  it('whisper-1 ignores `stream` with a format that cannot be streamed', async () => {
    const { post } = await transcriptionApp({}, { models: ['whisper-1', 'gpt-transcribe'] });
    const captions = { stream: 'true', response_format: 'vtt' };
    expect(await (await post({ model: 'whisper-1', ...captions })).text()).toMatch(/^WEBVTT/);
    expect((await post({ model: 'gpt-transcribe', ...captions })).status).toBe(400);
  });

  it.each(['whisper-1', 'gpt-4o-transcribe', 'gpt-transcribe'])('%s has every format', async (model) => {
    const { post } = await transcriptionApp({}, { models: [model] });
    for (const path of ['/v1/audio/transcriptions', TRANSLATIONS]) {
      for (const response_format of ['json', 'text', 'srt', 'vtt', 'verbose_json']) {
        const response = await post({ model, response_format, temperature: '0.2', prompt: 'x' }, { path });
        expect([path, response_format, response.status]).toEqual([path, response_format, 200]);
      }
      const stream = await post({ model, stream: 'true' }, { path });
      expect(await stream.text()).toContain('"type":"transcript.text.done","text":"Ask not."');
    }
  });
});
