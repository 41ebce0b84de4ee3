import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { misspeltName, quotedName, similarName, similarNameHint } from './nearest-name.ts';

const FIELDS = ['model', 'input', 'response_format', 'stream', 'n', 'top_p', 'language', 'conversation'];

describe('misspeltName', () => {
  test.each([
    ['respnse_format', 'response_format'],
    ['respones_format', 'response_format'],
    ['response_formatt', 'response_format'],
    ['responseFormat', 'response_format'],
    ['response-format', 'response_format'],
    ['RESPONSE_FORMAT', 'response_format'],
    ['reponse_fromat', 'response_format'],
    ['steam', 'stream'],
    ['modle', 'model'],
    ['lanuage', 'language'],
  ])('%s was meant to be %s', (written, name) => {
    expect(misspeltName(written, FIELDS)).toBe(name);
  });

  test.each([
    ...['user', 'metadata', 'lang_code', 'vad_filter', 'client_metadata', 'format', 'm', 'x', ''],
    ...['conversation_id', 'to_language', 'model_name', 'streaming', 'download_format', '__proto__'],
    'response_format'.repeat(100),
  ])('%s is another name', (written) => {
    expect(misspeltName(written, FIELDS)).toBeUndefined();
  });

  test('any single mistake in a name of four letters or more is recognized', () => {
    const name = fc.stringMatching(/^[a-z]{4,20}$/);
    const letter = fc.stringMatching(/^[a-z]$/);
    fc.assert(
      fc.property(name, fc.nat(), letter, (meant, at, other) => {
        const position = at % meant.length;
        const [start, end] = [meant.slice(0, position), meant.slice(position)];
        const swapped = `${start}${end[1] ?? ''}${end[0]}${end.slice(2)}`;
        for (const written of [`${start}${other}${end}`, `${start}${other}${end.slice(1)}`, swapped]) {
          expect(misspeltName(written, [meant])).toBe(meant);
        }
        expect(misspeltName(`${start}${end.slice(1)}`, [meant])).toBe(meant);
      }),
    );
  });
});

describe('similarName', () => {
  const MODELS = ['svc-tts', 'svc-stt', 'smollm2-135m-instruct', 'qwen2.5-0.5b-instruct'];

  test.each([
    ['svc_tts', 'svc-tts'],
    ['SVC-STT', 'svc-stt'],
    ['svc-ttss', 'svc-tts'],
    ['smollm2-135m', 'smollm2-135m-instruct'],
    ['qwen2.5-1.5b-instruct', 'qwen2.5-0.5b-instruct'],
    ['gpt-4o', undefined],
    ['', undefined],
    ['x'.repeat(10_000), undefined],
  ])('of %s is %s', (written, name) => {
    expect(similarName(written, MODELS)).toBe(name);
  });

  test('is the closest name, and the first of several', () => {
    expect(similarName('abcdeg', ['abcdxx', 'abcdef', 'abcdeh'])).toBe('abcdef');
  });

  test('is a hint in a message', () => {
    expect(similarNameHint('svc_tts', MODELS)).toBe(" Did you mean 'svc-tts'?");
    expect(similarNameHint('gpt-4o', MODELS)).toBe('');
  });
});

test('quotedName quotes names and omits texts', () => {
  expect(quotedName('gpt-4o')).toBe(" 'gpt-4o'");
  for (const text of ['', 'a\nb', 'x'.repeat(65)]) expect(quotedName(text)).toBe('');
});
