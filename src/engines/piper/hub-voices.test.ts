import { describe, expect, test } from 'vitest';
import { hubPiper, isPiperFile } from './hub-voices.ts';

describe('names of Piper voices', () => {
  test.each([
    ['de_DE-thorsten-medium', 'de/de_DE/thorsten/medium'],
    ['en_GB-southern_english_female-low', 'en/en_GB/southern_english_female/low'],
    ['es_MX-claude-high', 'es/es_MX/claude/high'],
    ['nl_NL-mls_5809-x_low', 'nl/nl_NL/mls_5809/x_low'],
  ])('%s is in the folder %s', (voice, folder) => {
    expect(hubPiper(voice)).toEqual({
      repository: 'rhasspy/piper-voices',
      paths: [`${folder}/${voice}.onnx`, `${folder}/${voice}.onnx.json`],
      optionalPaths: [`${folder}/MODEL_CARD`],
    });
  });

  test.each([
    '',
    'thorsten',
    'de-thorsten-medium',
    'de_DE-thorsten',
    'de_DE-thorsten-best',
    'de_DE-../x-medium',
  ])('%j is none', (voice) => expect(hubPiper(voice)).toBeUndefined());

  test('are distinguished from files', () => {
    expect(['/srv/v.onnx', '/srv/v', 'v.onnx', 'de_DE-a-low'].map(isPiperFile)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
