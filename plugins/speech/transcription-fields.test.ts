import { describe, expect, it } from 'vitest';
import {
  AUDIO,
  type Fields,
  TRANSCRIPTIONS,
  TRANSLATIONS,
  transcriptionApp,
} from '../../test/harness/transcription-app.ts';

describe('fields', () => {
  it('are passed to the engine', async () => {
    const { post, engine } = await transcriptionApp();
    const fields = { language: 'de', prompt: 'Ahrensburg', temperature: '0.25', chunking_strategy: 'auto' };
    expect((await post({ ...fields, stream: 'false' })).status).toBe(200);
    expect(engine.requests[0]).toMatchObject({ language: 'de', prompt: 'Ahrensburg', temperature: 0.25 });
  });

  it('that are lists are passed to the engine, with or without brackets', async () => {
    const { post, engine } = await transcriptionApp();
    for (const end of ['', '[]']) {
      const lists = {
        [`languages${end}`]: ['en-US', 'German', 'en'],
        [`keywords${end}`]: [' Blankenese', ''],
      };
      expect((await post({ ...lists, [`include${end}`]: 'logprobs' })).status).toBe(200);
    }
    const request = { languages: ['en', 'de'], keywords: ['Blankenese'], textTokens: true };
    expect(engine.requests).toMatchObject([request, request]);
  });

  it('with one language of a list pass both', async () => {
    const { post, engine } = await transcriptionApp();
    expect((await post({ language: 'de', 'languages[]': ['en', 'de-AT'] })).status).toBe(200);
    expect(engine.requests[0]).toMatchObject({ language: 'de', languages: ['en', 'de'] });
  });

  it.each([
    {
      'chunking_strategy[type]': 'server_vad',
      'chunking_strategy[threshold]': '0.4',
      'chunking_strategy[prefix_padding_ms]': '300',
      'chunking_strategy[silence_duration_ms]': '200',
    },
    { 'chunking_strategy[type]': 'server_vad' },
    { chunking_strategy: '{"type":"server_vad","threshold":0.4}' },
    { chunking_strategy: 'auto' },
  ] as Fields[])('accept the chunking strategy %j', async (fields) => {
    const { post } = await transcriptionApp();
    expect((await post(fields)).status).toBe(200);
  });

  it('treat a blank prompt as absent', async () => {
    const { post, engine } = await transcriptionApp();
    await post({ prompt: '  ' });
    expect(engine.requests[0]?.prompt).toBeUndefined();
  });

  it.each([
    ['an unknown model', { model: 'whisper-1' }, 'model', 'model_not_found'],
    ['a model that is a file', { model: AUDIO }, 'model', 'invalid_type'],
    ['a model given twice', { model: ['svc-stt', 'svc-stt'] }, 'model', 'invalid_value'],
    ['text as file', { file: 'RIFF' }, 'file', 'invalid_type'],
    ['two files', { file: [AUDIO, AUDIO] }, 'file', 'invalid_value'],
    ['a list of files', { file: [], 'file[]': AUDIO }, 'file', 'invalid_type'],
    ['no file', { file: [] }, 'file', 'missing_required_parameter'],
    ['an empty file', { file: new File([], 'clip.wav') }, 'file', 'invalid_value'],
    ['a file that is not audio', { file: new File(['xyz'], 'clip.wav') }, 'file', 'invalid_value'],
    ['another file', { file2: AUDIO }, 'file2', 'unknown_parameter'],
    ['a language the model lacks', { language: 'fr' }, 'language', 'invalid_value'],
    ['a word for a language', { language: 'klingon' }, 'language', 'invalid_value'],
    ['a list of languages', { 'language[]': ['en', 'de'] }, 'language', 'invalid_type'],
    ['a huge prompt', { prompt: 'x'.repeat(5001) }, 'prompt', 'string_above_max_length'],
    ['a prompt beyond any field', { prompt: 'x'.repeat(70_000) }, 'prompt', 'string_above_max_length'],
    ['a format of speakers', { response_format: 'diarized_json' }, 'response_format', 'unsupported_value'],
    ['a temperature above 1', { temperature: '2' }, 'temperature', 'invalid_value'],
    ['a temperature below 0', { temperature: '-0.1' }, 'temperature', 'invalid_value'],
    ['a temperature in words', { temperature: 'hot' }, 'temperature', 'invalid_type'],
    ['a stream of yes', { stream: 'yes' }, 'stream', 'invalid_type'],
    [
      'a stream of captions',
      { stream: 'true', response_format: 'srt' },
      'response_format',
      'unsupported_value',
    ],
    [
      'a stream of times',
      { stream: 'true', response_format: 'verbose_json' },
      'response_format',
      'unsupported_value',
    ],
    ['times in json', { 'timestamp_granularities[]': 'word' }, 'timestamp_granularities', 'invalid_value'],
    [
      'times of letters',
      { response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' },
      'timestamp_granularities.0',
      'unsupported_value',
    ],
    ['another chunking strategy', { chunking_strategy: 'none' }, 'chunking_strategy', 'unsupported_value'],
    [
      'another type of chunking',
      { 'chunking_strategy[type]': 'semantic_vad' },
      'chunking_strategy.type',
      'unsupported_value',
    ],
    [
      'chunking without a type',
      { chunking_strategy: '{"threshold":0.5}' },
      'chunking_strategy.type',
      'missing_required_parameter',
    ],
    [
      'a threshold above 1',
      { 'chunking_strategy[type]': 'server_vad', 'chunking_strategy[threshold]': '2' },
      'chunking_strategy.threshold',
      'invalid_value',
    ],
    ['another inclusion', { 'include[]': ['logprobs', 'words'] }, 'include.1', 'unsupported_value'],
    [
      'log probabilities of text',
      { 'include[]': 'logprobs', response_format: 'text' },
      'include',
      'invalid_value',
    ],
    ['languages that the model lacks', { 'languages[]': ['en', 'fr'] }, 'languages.1', 'invalid_value'],
    [
      'a language outside the languages',
      { language: 'en', 'languages[]': 'de' },
      'language',
      'invalid_value',
    ],
    ['too many languages', { 'languages[]': Array(101).fill('en') }, 'languages', 'invalid_value'],
    ['huge keywords', { 'keywords[]': ['x'.repeat(5000), 'y'] }, 'keywords', 'invalid_value'],
    ['speakers', { 'known_speaker_names[]': 'Ann' }, 'known_speaker_names', 'unsupported_parameter'],
    ['a misspelt field', { promt: 'x' }, 'promt', 'unknown_parameter'],
  ] as [string, Fields, string, string][])('reject %s', async (_, fields, param, code) => {
    const { post, engine, rows, staged, files } = await transcriptionApp();
    const response = await post(fields);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        param,
        code,
        message: expect.stringContaining(param.split('.')[0] ?? ''),
      },
    });
    expect([engine.requests, rows, staged(), files.reading]).toEqual([[], [], [], 0]);
  });

  it('ask for speakers, which is not available', async () => {
    const { post } = await transcriptionApp();
    const response = await post({ model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' });
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/one of json, .*: speaker diarization is not available\.$/) },
    });
  });

  it('of a translation do not include language and granularities, which are ignored', async () => {
    const { post, engine } = await transcriptionApp();
    for (const field of ['language', 'timestamp_granularities[]', 'chunking_strategy']) {
      expect((await post({ [field]: 'fr' }, { path: TRANSLATIONS })).status).toBe(200);
    }
    expect(engine.requests.map(({ language }) => language)).toEqual([undefined, undefined, undefined]);
  });

  it('of other servers are ignored', async () => {
    const { post, engine } = await transcriptionApp();
    const fields = {
      user: 'u',
      'metadata[a]': 'b',
      lang_code: 'a',
      client_metadata: '{}',
      vad_filter: 'true',
      hotwords: 'x',
      to_language: 'de',
      seed: '1',
      top_k: '5',
      temperature_inc: '0.2',
      '__proto__[x]': 'y',
    };
    for (const path of [TRANSCRIPTIONS, TRANSLATIONS])
      expect((await post(fields, { path })).status).toBe(200);
    expect(engine.requests).toHaveLength(2);
  });

  it('that are blank are automatic', async () => {
    const { post, engine } = await transcriptionApp();
    const names = ['language', 'prompt', 'response_format', 'temperature', 'stream', 'chunking_strategy'];
    const lists = ['timestamp_granularities[]', 'include[]', 'languages[]', 'keywords[]'];
    const blank = Object.fromEntries([...names, ...lists].map((name) => [name, '']));
    const response = await post(blank);
    expect([response.status, await response.json()]).toMatchObject([200, { text: expect.any(String) }]);
    expect(engine.requests[0]).toMatchObject({ language: undefined, prompt: undefined, temperature: 0 });
  });

  it.each([
    ...[
      ['True', true],
      ['TRUE', true],
      ['1', true],
      ['False', false],
      ['0', false],
    ],
  ] as [string, boolean][])('accept the boolean %s', async (stream, streams) => {
    const { post } = await transcriptionApp();
    const type = (await post({ stream })).headers.get('content-type');
    expect(type?.startsWith('text/event-stream')).toBe(streams);
  });

  it.each(['de-DE', 'DE', 'de_AT', 'german', 'deu'])('reduce the language %s', async (language) => {
    const { post, engine } = await transcriptionApp();
    expect((await post({ language })).status).toBe(200);
    expect(engine.requests[0]?.language).toBe('de');
  });

  it('list the languages in the error of an unknown one', async () => {
    const { post } = await transcriptionApp();
    expect(await (await post({ language: 'klingon' })).text()).toContain('one of en, de');
  });

  it('accept any ISO 639-1 language if the engine does not list its languages', async () => {
    const { post } = await transcriptionApp({ languages: undefined });
    for (const language of ['fr', 'fr-CA', 'French']) expect((await post({ language })).status).toBe(200);
    for (const language of ['xx', 'klingon', 'en-']) {
      const response = await post({ language });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringMatching(/an ISO 639-1 code/) },
      });
    }
  });

  it('are not quoted in error messages', async () => {
    const { post } = await transcriptionApp();
    const secret = 'my private diary';
    for (const name of ['prompt', 'language', 'temperature', 'stream', 'response_format', 'model']) {
      const response = await post({ [name]: secret.repeat(400) });
      expect(response.status).toBe(400);
      expect(await response.text()).not.toContain(secret);
    }
  });
});
