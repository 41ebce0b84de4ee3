import { describe, expect, it } from 'vitest';
import { joinedErrors, type ServiceError } from '../../../src/contract/core/error.ts';
import { readSpeechBody, speechBodySchema } from './schema.ts';

const LIMIT = 5000;
const OK = { model: 'svc-tts', input: 'Hello.' };

/** The fields of a body. Throws its first error. */
function parse(body: object | null, isForm = false) {
  const { fields, errors } = readSpeechBody(body, isForm, LIMIT);
  if (errors[0] !== undefined) throw errors[0];
  if (fields === undefined) throw new Error('a body without errors has fields');
  return fields;
}

/** `param` and `code` of the error. */
function errorOf(body: object | null, isForm = false): unknown[] {
  try {
    parse(body, isForm);
  } catch (error) {
    const { kind, param, code } = error as { kind: string; param?: string; code?: string };
    return [kind, param, code];
  }
  return [];
}

describe('valid requests', () => {
  it('have the default values of the specification', () => {
    expect(parse(OK)).toEqual({
      model: 'svc-tts',
      input: 'Hello.',
      characters: 6,
      voice: undefined,
      responseFormat: undefined,
      instructions: undefined,
      presentation: 'audio',
      hasWords: false,
      parts: undefined,
      speed: 1,
    });
  });

  it.each([
    [{ voice: 'tts-vc-voice_1' }, { voice: 'tts-vc-voice_1' }],
    [{ voice: { id: 'tts-vc-voice_1' } }, { voice: 'tts-vc-voice_1' }],
    [{ response_format: 'pcm' }, { responseFormat: 'pcm' }],
    [{ response_format: 'of no model' }, { responseFormat: 'of no model' }],
    [{ stream_format: 'sse' }, { presentation: 'sse' }],
    [{ speed: 0.25 }, { speed: 0.25 }],
    [{ speed: 4 }, { speed: 4 }],
    [{ max_new_tokens: 2048, instructions: 'softly', stream_format: 'audio' }, { instructions: 'softly' }],
    [{ voice: null, speed: null, response_format: null, ref_text: null, max_new_tokens: null }, { speed: 1 }],
  ])('%j', (fields, expected) => {
    expect(parse({ ...OK, ...fields })).toMatchObject(expected);
  });

  it.each([
    { voice: '', response_format: '', speed: '', max_new_tokens: '', instructions: '', stream_format: ' ' },
    { voice: { id: '' } },
    { user: 'u', metadata: { a: 'b' }, stream: true, lang_code: 'a', client_metadata: {}, vad_filter: true },
    {
      voice: { name: 'x', id: ' ' },
      volume_multiplier: 2,
      download_format: 'mp3',
      return_download_link: true,
    },
    { normalization_options: {}, sample_rate: 24_000, gain: 0, seed: 1, instruction: 'x', temperature: 1 },
    JSON.parse('{"__proto__":{"speed":9}}'),
  ])('with blank values and fields of other servers have the defaults: %j', (more) => {
    const plain = parse(OK);
    expect(parse({ ...OK, ...more })).toEqual(plain);
    expect(parse({ ...OK, ...more }, true)).toEqual(plain);
  });

  it.each([
    ['1.5', 1.5],
    ['.5', 0.5],
    ['2e0', 2],
    ['4', 4],
  ])('parse the speed %s of a form', (speed, expected) => {
    expect(parse({ ...OK, speed, max_new_tokens: '12' }, true).speed).toBe(expected);
  });

  it.each([
    ['emoji outside the basic plane', '😀'.repeat(LIMIT)],
    ['combining marks', 'e\u0301'.repeat(LIMIT / 2)],
    ['CJK', '語'.repeat(LIMIT)],
  ])('count %s as code points', (_, input) => {
    expect(parse({ ...OK, input }).characters).toBe(LIMIT);
    expect(errorOf({ ...OK, input: `${input}x` })).toEqual([
      'invalid_request',
      'input',
      'string_above_max_length',
    ]);
  });

  it('replace lone surrogates', () => {
    expect(parse({ ...OK, input: 'a\ud83d' }).input).toBe('a\ufffd');
  });
});

describe('invalid requests', () => {
  it.each([
    [null, 'model', 'missing_required_parameter'],
    [{}, 'model', 'missing_required_parameter'],
    [{ input: 'x' }, 'model', 'missing_required_parameter'],
    [{ model: 7, input: 'x' }, 'model', 'invalid_type'],
    [{ model: 'svc-tts' }, 'input', 'missing_required_parameter'],
    [{ model: 'svc-tts', input: null }, 'input', 'missing_required_parameter'],
    [{ ...OK, input: '' }, 'input', 'invalid_value'],
    [{ ...OK, input: ' \n\t\u00a0' }, 'input', 'invalid_value'],
    [{ ...OK, input: 5 }, 'input', 'invalid_type'],
    [{ ...OK, input: ['a'] }, 'input', 'invalid_type'],
    [{ ...OK, input: 'x'.repeat(LIMIT + 1) }, 'input', 'string_above_max_length'],
    [{ ...OK, voice: 7 }, 'voice', 'invalid_type'],
    [{ ...OK, voice: [] }, 'voice', 'invalid_type'],
    [{ ...OK, voice: {} }, 'voice.id', 'missing_required_parameter'],
    [{ ...OK, voice: { id: 7 } }, 'voice.id', 'invalid_type'],
    [{ ...OK, response_format: 1 }, 'response_format', 'invalid_type'],
    [{ ...OK, stream_format: 'xml' }, 'stream_format', 'unsupported_value'],
    [{ ...OK, speed: 0.2499 }, 'speed', 'invalid_value'],
    [{ ...OK, speed: 4.01 }, 'speed', 'invalid_value'],
    [{ ...OK, speed: -1 }, 'speed', 'invalid_value'],
    [{ ...OK, speed: 0 }, 'speed', 'invalid_value'],
    [{ ...OK, speed: Number.POSITIVE_INFINITY }, 'speed', 'invalid_value'],
    [{ ...OK, speed: Number.NaN }, 'speed', 'invalid_value'],
    [{ ...OK, speed: 'fast' }, 'speed', 'invalid_type'],
    [{ ...OK, speed: '1' }, 'speed', 'invalid_type'],
    [{ ...OK, speed: true }, 'speed', 'invalid_type'],
    [{ ...OK, max_new_tokens: 1.5 }, 'max_new_tokens', 'invalid_value'],
    [{ ...OK, max_new_tokens: 'many' }, 'max_new_tokens', 'invalid_type'],
    [{ ...OK, voice_ref_wav_b64: 'UklGRg==' }, 'voice_ref_wav_b64', 'unsupported_parameter'],
    [{ ...OK, voice_ref_wav_format: 'wav' }, 'voice_ref_wav_format', 'unsupported_parameter'],
    [{ ...OK, ref_text: '' }, 'ref_text', 'unsupported_parameter'],
    [{ ...OK, x_vector_only_mode: false }, 'x_vector_only_mode', 'unsupported_parameter'],
    [{ ...OK, respose_format: 'pcm' }, 'respose_format', 'unknown_parameter'],
  ])('%j', (body, param, code) => {
    expect(errorOf(body)).toEqual(['invalid_request', param, code]);
  });

  it.each(['fast', 'NaN', 'Infinity', '1e400', '0x1', '1,5', '0.1', ' 1'])(
    'the speed %j of a form',
    (speed) => {
      expect(errorOf({ ...OK, speed }, true).slice(0, 2)).toEqual(['invalid_request', 'speed']);
    },
  );

  it('include a file in a text field', () => {
    const input = new File(['Hello.'], 'input.txt');
    expect(errorOf({ ...OK, input }, true)).toEqual(['invalid_request', 'input', 'invalid_type']);
  });

  it('are not quoted in error messages', () => {
    const secret = 'my private diary';
    for (const body of [
      { ...OK, input: secret.repeat(1000) },
      { ...OK, speed: secret },
      { ...OK, stream_format: secret },
      { ...OK, voice: { note: secret } },
    ]) {
      expect(() => parse(body)).toThrow(expect.not.stringContaining(secret));
    }
  });
});

describe('a body with several errors', () => {
  it('has one for each invalid field, and keeps the valid ones', () => {
    const body = {
      model: 'tts-1',
      input: ' ',
      voice: { id: 7 },
      response_format: 'mp3',
      speed: 9,
      stream_format: 'xml',
      ref_text: 'x',
      respose_format: 'pcm',
    };
    const { errors, fields, choices } = readSpeechBody({ ...body, response_format: null }, false, LIMIT);
    expect(errors.map(({ param, code }) => [param, code])).toEqual([
      ['ref_text', 'unsupported_parameter'],
      ['respose_format', 'unknown_parameter'],
      ['voice.id', 'invalid_type'],
      ['speed', 'invalid_value'],
      ['stream_format', 'unsupported_value'],
      ['input', 'invalid_value'],
    ]);
    expect([fields, choices]).toEqual([undefined, { model: 'tts-1' }]);
    const all = joinedErrors(errors as [ServiceError, ...ServiceError[]]);
    expect(all).toMatchObject({ status: 400, param: 'ref_text', code: 'unsupported_parameter' });
    expect(all.message).toBe(errors.map(({ message }) => message).join(' '));
  });

  it('that does not have the required ones names both', () => {
    const { errors } = readSpeechBody({}, false, LIMIT);
    expect(errors.map(({ param }) => param)).toEqual(['model', 'input']);
  });
});

describe('the OpenAPI schema', () => {
  it('has every rule of a field', () => {
    const { properties, required } = speechBodySchema(LIMIT);
    expect(required).toEqual(['model', 'input']);
    expect(properties).toMatchObject({
      input: { type: 'string', minLength: 1, maxLength: LIMIT },
      speed: { type: 'number', minimum: 0.25, maximum: 4, default: 1 },
      response_format: {
        anyOf: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'].map((format) => ({ const: format })),
      },
      ref_text: { deprecated: true },
    });
  });
});
