import { describe, expect, onTestFinished, test } from 'vitest';
import type { SpokenWord, TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { LexiconEntry } from '../../../src/contract/stores/lexicon-store.ts';
import { bind } from '../../../src/http/route.ts';
import { ByteBudget } from '../../../src/kit/limits/byte-budget.ts';
import { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { FakeAudioEncoder } from '../../../test/doubles/fake-audio-encoder.ts';
import { fakeLexicons, lexiconEntry } from '../../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine } from '../../../test/doubles/fake-tts-engine.ts';
import { testApp } from '../../../test/harness/test-app.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { captionRoutes, speechRoutes } from './routes.ts';
import { SpeechResponder } from './speech-responder.ts';
import { wavBudget } from './wav-body.ts';

/** 100 ms of samples. */
const RUN = new Array(2400).fill(0.25);
/** Reports 50 ms for each word of a sentence, before its audio. */
function timed(engine: FakeTtsEngine): TtsEngine {
  return Object.assign(engine, {
    async *synthesize(...[request, signal]: Parameters<TtsEngine['synthesize']>) {
      const words = (request.text.match(/\S+\s*/g) ?? []).map(
        (text, index): SpokenWord => ({ text, startMs: 50 * index, endMs: 50 * index + 40 }),
      );
      request.onWords?.(words);
      yield* FakeTtsEngine.prototype.synthesize.call(engine, request, signal);
    },
  });
}

interface Options {
  failure?: () => unknown;
  wavs?: ByteBudget;
  lexicon?: readonly LexiconEntry[];
}

function setUp({ failure, wavs, lexicon }: Options = {}) {
  const kokoro = new FakeTtsEngine({
    runs: () => [RUN],
    voices: ['nova', 'onyx'],
    languages: ['en-US', 'es'],
  });
  const engines = new Map<string, TtsEngine>([
    [
      'kokoro',
      Object.assign(timed(kokoro), {
        compatibility: 'openai' as const,
      }),
    ],
    ['untimed', new FakeTtsEngine({ runs: () => [RUN], ...(failure && { failure }) })],
  ]);
  const tts = { ids: [...engines.keys()], get: (id: string) => engines.get(id) };
  const calls = new RecordedCalls({});
  const log = new RecordingLogger();
  const requests = new SpeechRequests({
    endpoint: '/v1/audio/speech',
    tts,
    calls,
    clock: new ManualClock(),
    requestsPerOrganization: 10,
    voices: { find: async () => undefined, findSimilar: async () => undefined },
    lexicons: fakeLexicons(lexicon),
  });
  const responder = new SpeechResponder({
    requests,
    encoder: new FakeAudioEncoder(),
    log,
    whole: wavs ?? wavBudget(),
  });
  const routes = [...speechRoutes(5000), ...captionRoutes(5000)];
  const app = testApp({ routes: [bind(routes, { tts, requests, responder })] });
  onTestFinished(() => app.close());
  const post = (fields: object, path = '/v1/audio/speech') =>
    app.send(path, {
      method: 'POST',
      headers: { 'x-api-key': 'key-of-a', 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'One two. Three.', ...fields }),
    });
  return { post, calls, log, kokoro };
}

const WORDS = [
  { word: 'One', start: 0, end: 0.04 },
  { word: 'two.', start: 0.05, end: 0.09 },
  { word: 'Three.', start: 0.1, end: 0.14 },
];
const types = (stream: string) =>
  [...stream.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Record<string, unknown>);

test('events of words precede the audio of their sentence', async () => {
  const { post } = setUp();
  const fields = { model: 'kokoro', response_format: 'pcm', stream_format: 'sse', timestamps: ['word'] };
  const events = types(await (await post(fields)).text());
  expect(events.map(({ type }) => type)).toEqual([
    ...['speech.audio.words', 'speech.audio.delta', 'speech.audio.words', 'speech.audio.delta'],
    'speech.audio.done',
  ]);
  expect(events.flatMap(({ words = [] }) => words)).toEqual(WORDS);
});

test('an engine without times has interpolated words after the audio of their sentence', async () => {
  const { post } = setUp();
  const fields = { model: 'untimed', response_format: 'pcm', stream_format: 'sse', timestamps: ['word'] };
  const events = types(await (await post(fields)).text());
  expect(events.map(({ type }) => type)).toEqual([
    ...['speech.audio.delta', 'speech.audio.words', 'speech.audio.delta', 'speech.audio.words'],
    'speech.audio.done',
  ]);
  expect(events.flatMap(({ words = [] }) => words)).toEqual([
    { word: 'One', start: 0, end: 0.044 },
    { word: 'two.', start: 0.044, end: 0.1 },
    { word: 'Three.', start: 0.1, end: 0.2 },
  ]);
});

describe('the pronunciation lexicon', () => {
  const lexicon = [
    lexiconEntry('two', { phonemes: 'tu' }),
    lexiconEntry('One', { respelling: 'the first number' }),
    lexiconEntry('Three', { language: 'es', respelling: 'tres' }),
  ];

  test('gives words their sounds or their respelling; the words in the response are those of the text', async () => {
    const { post, kokoro, calls } = setUp({ lexicon });
    const body = await post({ model: 'kokoro', stream_format: 'json', timestamps: ['word'] });
    expect(kokoro.requests).toMatchObject([
      { text: 'the first number two. ', givenSounds: [{ start: 17, end: 20, ipa: 'tu' }] },
      { text: 'Three.' },
    ]);
    expect(await body.json()).toMatchObject({
      words: [
        { word: 'One', start: 0, end: 0.14 },
        { word: 'two.', start: 0.15, end: 0.19 },
        { word: 'Three.', start: 0.1 },
      ],
    });
    expect(calls.rows).toMatchObject([{ characters: 15 }]);
  });

  test('has entries for the language of the request only', async () => {
    const { post, kokoro } = setUp({ lexicon });
    await (await post({ model: 'kokoro', language: 'es' })).arrayBuffer();
    expect(kokoro.requests[1]).toMatchObject({ text: 'tres.' });
  });

  test('gives way to the phonemes of SSML', async () => {
    const { post, kokoro } = setUp({ lexicon });
    const input = '<speak><phoneme ph="x">two</phoneme> two <phoneme ph="y">One</phoneme></speak>';
    await (await post({ model: 'kokoro', input_type: 'ssml', input })).arrayBuffer();
    expect(kokoro.requests).toMatchObject([
      {
        text: 'two two One',
        givenSounds: [
          { start: 0, end: 3, ipa: 'x' },
          { start: 4, end: 7, ipa: 'tu' },
          { start: 8, end: 11, ipa: 'y' },
        ],
      },
    ]);
  });

  test('respells words for engines without times and languages', async () => {
    const { post, calls } = setUp({ lexicon });
    const fields = { model: 'untimed', response_format: 'pcm', stream_format: 'json', timestamps: ['word'] };
    expect(await (await post(fields)).json()).toMatchObject({
      words: [{ word: 'One' }, { word: 'two.' }, { word: 'Three.' }],
    });
    expect(calls.rows).toMatchObject([{ characters: 15 }]);
  });
});

test('without timestamps no words are sent', async () => {
  const { post } = setUp();
  const events = types(await (await post({ model: 'kokoro', stream_format: 'sse' })).text());
  expect(events.map(({ type }) => type)).not.toContain('speech.audio.words');
});

test('one object has the audio and the words', async () => {
  const { post } = setUp();
  const fields = { model: 'kokoro', response_format: 'pcm', stream_format: 'json' };
  const response = await post({ ...fields, timestamps: ['word'] });
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = (await response.json()) as { audio: string };
  expect(body).toEqual({
    object: 'speech',
    audio: expect.any(String),
    format: 'pcm',
    words: WORDS,
    usage: {
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
    },
  });
  expect(Buffer.from(body.audio, 'base64')).toHaveLength(2 * 2 * RUN.length);
  expect(await (await post(fields)).json()).not.toHaveProperty('words');
});

test.each([['mp3'], ['wav']])('one object with %s', async (response_format) => {
  const { post } = setUp();
  const body = (await (await post({ model: 'kokoro', response_format, stream_format: 'json' })).json()) as {
    format: string;
  };
  expect(body.format).toBe(response_format);
});

test('a failure before the object is an HTTP status', async () => {
  const { post, calls } = setUp({ failure: () => new Error('broken') });
  const response = await post({ model: 'untimed', response_format: 'pcm', stream_format: 'json' });
  expect(response.status).toBe(500);
  expect(calls.rows).toMatchObject([{ status: 'failed' }]);
});

test('the bytes of an object are limited', async () => {
  const wavs = new ByteBudget(
    { bytesPerKey: 3000, totalBytes: 3000 },
    { overKeyLimit: () => new Error('full'), overTotalLimit: () => new Error('full') },
  );
  const { post } = setUp({ wavs });
  const response = await post({ model: 'kokoro', response_format: 'pcm', stream_format: 'json' });
  expect(response.status).toBe(500);
});

test.each([
  [{ timestamps: ['word'] }, "'timestamps' needs 'stream_format'"],
  [{ timestamps: ['sentence'], stream_format: 'json' }, "'timestamps"],
  [{ timestamps: 'word', stream_format: 'json' }, "'timestamps"],
  [{ stream_format: 'xml' }, "'stream_format'"],
])('%j is rejected', async (fields, message) => {
  const { post } = setUp();
  const response = await post({ model: 'kokoro', ...fields });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(message);
});

test('blank timestamps are as if absent', async () => {
  const { post } = setUp();
  expect((await post({ model: 'kokoro', response_format: 'pcm', timestamps: [] })).status).toBe(200);
});

test('captioned speech has the shape of Kokoro-FastAPI, in lines or in one object', async () => {
  const { post } = setUp();
  const fields = { response_format: 'pcm', voice: '', lang_code: 'a', normalization_options: {} };
  const lines = (await (await post(fields, '/dev/captioned_speech')).text()).trimEnd().split('\n');
  const captions = lines.map((line) => JSON.parse(line) as { audio_format: string; timestamps: object[] });
  expect(captions.map(({ audio_format }) => audio_format)).toEqual(['audio/pcm', 'audio/pcm']);
  const timestamps = WORDS.map(({ word, start, end }) => ({ word, start_time: start, end_time: end }));
  expect(captions.flatMap((caption) => caption.timestamps)).toEqual(timestamps);

  const whole = await post({ ...fields, stream: false }, '/dev/captioned_speech');
  expect(await whole.json()).toEqual({ audio: expect.any(String), audio_format: 'audio/pcm', timestamps });
  const silent = await post({ ...fields, stream: false, return_timestamps: false }, '/dev/captioned_speech');
  expect(await silent.json()).toMatchObject({ timestamps: [] });
  expect((await post({ stream: 'yes' }, '/dev/captioned_speech')).status).toBe(400);
  expect((await post({ return_timestamps: {} }, '/dev/captioned_speech')).status).toBe(400);
});

describe('SSML', () => {
  const ssml = (inner: string, more: object = {}) => ({
    model: 'kokoro',
    input_type: 'ssml',
    input: `<speak>${inner}</speak>`,
    response_format: 'pcm',
    ...more,
  });
  /** Int16 samples of a response. */
  const samplesOf = async (response: Response) => new Int16Array(await response.arrayBuffer());

  test('parts have their voice, language, rate and sounds', async () => {
    const { post, kokoro, calls } = setUp();
    const inner =
      'One. <voice name="nova">Two <phoneme ph="tu">two</phoneme>.</voice><prosody rate="50%"><lang xml:lang="es">Tres</lang></prosody>';
    await (await post(ssml(inner, { voice: 'onyx', speed: 1.5 }))).bytes();
    expect(
      kokoro.requests.map(({ text, voiceName, language, speed, givenSounds }) => ({
        text,
        voiceName,
        language,
        speed,
        givenSounds,
      })),
    ).toEqual([
      { text: 'One. ', voiceName: 'onyx', language: undefined, speed: 1.5, givenSounds: [] },
      {
        text: 'Two two.',
        voiceName: 'nova',
        language: undefined,
        speed: 1.5,
        givenSounds: [{ start: 4, end: 7, ipa: 'tu' }],
      },
      { text: 'Tres', voiceName: 'onyx', language: 'es', speed: 0.75, givenSounds: [] },
    ]);
    // The markup is neither spoken nor billed.
    expect(calls.rows).toMatchObject([{ characters: 'One. Two two.Tres'.length }]);
  });

  test('pauses are silent, and volume changes the samples', async () => {
    const { post } = setUp();
    const response = await post(ssml('One<break time="500ms"/><prosody volume="-6dB">two</prosody>'));
    const samples = await samplesOf(response);
    expect(samples).toHaveLength(2 * RUN.length + 12_000);
    expect(new Set(samples.subarray(RUN.length, RUN.length + 12_000))).toEqual(new Set([0]));
    expect(samples[0]).toBe(8192);
    expect(samples.at(-1)).toBe(Math.round(0.25 * 10 ** -0.3 * 32_768));
  });

  test('louder speech is limited', async () => {
    const { post } = setUp();
    const samples = await samplesOf(await post(ssml('<prosody volume="x-loud">One</prosody>')));
    expect(samples[0]).toBe(Math.round(0.25 * 10 ** 0.3 * 32_768));
  });

  test('marks have the time of the next word', async () => {
    const { post } = setUp();
    const inner = '<mark name="start"/>One <mark name="two"/>two.<break time="1s"/>Three.<mark name="end"/>';
    const body = await (await post(ssml(inner, { stream_format: 'json', timestamps: ['word'] }))).json();
    expect(body).toMatchObject({
      words: [
        { word: 'One', start: 0, end: 0.04 },
        { word: 'two.', start: 0.05, end: 0.09 },
        { word: 'Three.', start: 1.1, end: 1.14 },
      ],
      marks: [
        { name: 'start', time: 0 },
        { name: 'two', time: 0.05 },
        { name: 'end', time: 1.14 },
      ],
    });
    const events = types(await (await post(ssml(inner, { stream_format: 'sse' }))).text());
    expect(events.flatMap(({ marks = [] }) => marks)).toHaveLength(3);
    expect(events.map(({ type }) => type)).not.toContain('speech.audio.words');
  });

  test.each([
    [ssml('<break time="x"/>'), "'input', line 1, column"],
    [ssml('a', { input: 'Hello' }), "'input', line 1"],
    [ssml('<break/>'), "'input'"],
    [ssml('<voice name="unknown">a</voice>'), 'Unknown voice'],
    [ssml('<lang xml:lang="xx">a</lang>'), "'input' 'xx' is not a language of kokoro"],
    [ssml('a'.repeat(5001)), 'at most 5000'],
    [ssml(`${'<s>a</s>'.repeat(2500)}`), 'at most 20000 characters with its markup'],
    [ssml('a', { input_type: 'html' }), "'input_type'"],
  ])('%j is rejected', async (fields, message) => {
    const { post, kokoro } = setUp();
    const response = await post(fields);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
    expect(kokoro.requests).toEqual([]);
  });

  test('markup in a plain text is not interpreted', async () => {
    const { post, kokoro } = setUp();
    await post({ model: 'kokoro', response_format: 'pcm', input: '<break time="5s"/>One.' });
    expect(kokoro.requests.map(({ text }) => text)).toEqual(['<break time="5s"/>One.']);
  });
});
