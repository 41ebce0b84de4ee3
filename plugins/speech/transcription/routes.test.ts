import { describe, expect, it } from 'vitest';
import type { TranscriptSegment } from '../../../src/contract/engines/engine.ts';
import { KEY_ID_A } from '../../../test/harness/test-app.ts';
import {
  FILE_BYTES,
  type Fields,
  TRANSCRIPTIONS,
  TRANSLATIONS,
  transcriptionApp,
  USAGE,
} from '../../../test/harness/transcription-app.ts';

const SEGMENT: TranscriptSegment = {
  startS: 0.1,
  endS: 0.4,
  text: 'Ask not.',
  tokens: [1, 2],
  temperature: 0,
  averageLogProbability: -0.25,
  compressionRatio: 1.5,
  noSpeechProbability: 0.125,
};
const WORD = { word: 'Ask', startS: 0.1, endS: 0.2 };
const TIMED = { final: { segments: [SEGMENT], words: [WORD] } };

describe('formats', () => {
  it('json has the text and the tokens', async () => {
    const { post, engine, staged } = await transcriptionApp();
    const response = await post({});
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ text: 'Ask not.', usage: USAGE });
    expect(engine.requests).toEqual([
      {
        task: 'transcribe',
        language: undefined,
        languages: undefined,
        prompt: undefined,
        keywords: undefined,
        textTokens: false,
        temperature: 0,
        timestamps: 'none',
        priority: 'interactive',
        fairnessKey: KEY_ID_A,
      },
    ]);
    expect(engine.heard).toEqual([8000]);
    expect(staged()).toEqual([]);
  });

  it('verbose_json has segments with all fields', async () => {
    const { post, engine } = await transcriptionApp(TIMED);
    const response = await post({ response_format: 'verbose_json' });
    expect(await response.json()).toEqual({
      task: 'transcribe',
      language: 'english',
      duration: 0.5,
      text: 'Ask not.',
      segments: [
        {
          id: 0,
          seek: 10,
          start: 0.1,
          end: 0.4,
          text: 'Ask not.',
          tokens: [1, 2],
          temperature: 0,
          avg_logprob: -0.25,
          compression_ratio: 1.5,
          no_speech_prob: 0.125,
        },
      ],
      usage: { type: 'duration', seconds: 1 },
    });
    expect(engine.requests[0]?.timestamps).toBe('segment');
  });

  it('timestamps are rounded to milliseconds', async () => {
    const at = { startS: 0.1 + 0.2, endS: 7.6000000000000005 };
    const final = { durationS: 11.8725625, segments: [{ ...SEGMENT, ...at }], words: [{ ...WORD, ...at }] };
    const { post } = await transcriptionApp({ final });
    const response = await post({
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    });
    const shown = { start: 0.3, end: 7.6 };
    expect(await response.json()).toMatchObject({ duration: 11.873, segments: [shown], words: [shown] });
  });

  it.each([
    [['word'], false, true],
    [['word', 'segment'], true, true],
    [['segment'], true, false],
  ])('verbose_json with %j', async (granularities, segments, words) => {
    const { post, engine } = await transcriptionApp(TIMED);
    const response = await post({
      response_format: 'verbose_json',
      'timestamp_granularities[]': granularities,
    });
    const body = (await response.json()) as Record<string, unknown>;
    expect([Object.hasOwn(body, 'segments'), Object.hasOwn(body, 'words')]).toEqual([segments, words]);
    if (words) expect(body.words).toEqual([{ word: 'Ask', start: 0.1, end: 0.2 }]);
    expect(engine.requests[0]?.timestamps).toBe(words ? 'word' : 'segment');
  });

  it.each([
    [{ timestamp_granularities: 'word' }, false],
    [{ timestamp_granularities: ['word', 'segment'] }, true],
    [{ timestamp_granularities: 'word', 'timestamp_granularities[]': 'segment' }, true],
  ] as [Fields, boolean][])('a list field does not need brackets: %j', async (named, segments) => {
    const { post } = await transcriptionApp(TIMED);
    const response = await post({ response_format: 'verbose_json', ...named });
    const body = (await response.json()) as object;
    expect([Object.hasOwn(body, 'segments'), Object.hasOwn(body, 'words')]).toEqual([segments, true]);
  });

  it.each([
    ['text', 'Ask not.\n'],
    ['srt', '1\n00:00:00,100 --> 00:00:00,400\nAsk not.\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.100 --> 00:00:00.400\nAsk not.\n\n'],
  ])('%s is plain text', async (response_format, text) => {
    const { post, engine } = await transcriptionApp(TIMED);
    const response = await post({ response_format });
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(text);
    expect(engine.requests[0]?.timestamps).toBe(response_format === 'text' ? 'none' : 'segment');
  });

  it('the language of a translation is English', async () => {
    const { post, engine, rows } = await transcriptionApp({ final: { language: 'de' } });
    const response = await post({ response_format: 'verbose_json' }, { path: TRANSLATIONS });
    expect(await response.json()).toMatchObject({ task: 'translate', language: 'english' });
    expect(engine.requests[0]?.task).toBe('translate');
    expect(rows).toMatchObject([{ endpoint: TRANSLATIONS, status: 'completed' }]);
  });

  it.each([
    [{ language: undefined }, { language: 'de' }, 'german'],
    [{ language: undefined }, {}, 'unknown'],
  ])('the language falls back to that of the request', async (final, fields, language) => {
    const { post } = await transcriptionApp({ final });
    const response = await post({ response_format: 'verbose_json', ...fields });
    expect(await response.json()).toMatchObject({ language });
  });
});

describe('bodies', () => {
  it.each([
    ['JSON', 'application/json', '{"model":"svc-stt"}', 415],
    ['a urlencoded form', 'application/x-www-form-urlencoded', 'model=svc-stt', 415],
    ['audio itself', 'audio/wav', 'RIFF', 415],
    ['no boundary', 'multipart/form-data', 'x', 400],
    ['a broken boundary', 'multipart/form-data; boundary=b', '--c\r\n\r\n', 400],
    ['nothing', 'multipart/form-data; boundary=b', '', 400],
  ])('%s', async (_, type, body, status) => {
    const { app, staged } = await transcriptionApp();
    const headers = { 'x-api-key': 'key-of-a', 'content-type': type };
    const response = await app.send(TRANSCRIPTIONS, { method: 'POST', headers, body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(staged()).toEqual([]);
  });

  it('may be larger than other bodies and have their own limit', async () => {
    const { app, post, rows, staged } = await transcriptionApp();
    // The test app accepts 64 KiB, and 1 MiB of form data besides the file.
    expect((await post({ file: new File([new Uint8Array(FILE_BYTES)], 'a.wav') })).status).toBe(200);
    const over = await post({ file: new File([new Uint8Array(FILE_BYTES + 1)], 'a.wav') });
    expect(over.status).toBe(413);
    expect(await over.json()).toMatchObject({ error: { param: 'file', code: 'payload_too_large' } });
    const announced = await app.send(TRANSCRIPTIONS, {
      method: 'POST',
      headers: { 'x-api-key': 'key-of-a', 'content-length': '2000000' },
    });
    expect(announced.status).toBe(413);
    expect([rows.length, staged()]).toEqual([1, []]);
  });

  it('are not read without a key', async () => {
    const { app } = await transcriptionApp();
    expect(
      (await app.send(TRANSCRIPTIONS, { method: 'POST', headers: {}, body: new FormData() })).status,
    ).toBe(401);
  });
});

describe('OpenAPI', () => {
  it('documents both forms with rules and examples', async () => {
    const { app } = await transcriptionApp();
    const document = JSON.parse(await (await app.send('/swagger/json')).text());
    const operation = document.paths[TRANSCRIPTIONS].post;
    expect(operation['x-upload-max-bytes']).toBe(FILE_BYTES + 1024 * 1024);
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '400',
      '401',
      '413',
      '415',
      '429',
      '500',
      '502',
      '503',
    ]);
    expect(Object.keys(operation.responses['200'].content)).toEqual([
      'application/json',
      'text/plain',
      'text/event-stream',
    ]);
    const { schema } = operation.requestBody.content['multipart/form-data'];
    expect(schema.required).toEqual(['file', 'model']);
    expect(Object.keys(schema.properties)).toEqual([
      'file',
      'model',
      'prompt',
      'response_format',
      'temperature',
      'stream',
      'include[]',
      'language',
      'timestamp_granularities[]',
      'languages[]',
      'keywords[]',
      'chunking_strategy',
    ]);
    expect(schema.properties.file).toMatchObject({ type: 'string', format: 'binary' });
    const translation = document.paths[TRANSLATIONS].post.requestBody.content['multipart/form-data'].schema;
    expect(Object.keys(translation.properties)).not.toContain('language');
  });
});
