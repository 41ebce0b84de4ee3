import { expect, test } from 'vitest';
import { OPENAI_VOICES } from '../../contract/engines/named-voice.ts';
import { piperLanguage, piperLanguages, piperVoices, requireSpeaker } from './named-voices.ts';

test("a Piper model has its own voice, which OpenAI's names select too", () => {
  const voices = piperVoices({ voice: 'en_US-joe-medium', language: 'en-US', speakers: [] });
  const joe = { kind: 'preset', name: 'en_US-joe-medium' };
  for (const name of ['en_US-joe-medium', 'EN_us-Joe-Medium', 'joe', 'alloy', 'Nova']) {
    const isOfAnyLanguage = name === 'alloy' || name === 'Nova';
    expect(voices.find(name)).toEqual({ voice: joe, language: 'en-US', isOfAnyLanguage });
  }
  for (const name of ['af_heart', 'joe+alloy', '']) expect(voices.find(name)).toBeUndefined();
  expect(voices.list[0]).toEqual({
    id: 'en_US-joe-medium',
    name: 'Joe',
    language: 'en-US',
    gender: 'male',
  });
  expect(voices.list.slice(1).map(({ id }) => id)).toEqual([...OPENAI_VOICES]);
  expect(voices.list.slice(1).every(({ preset }) => preset === 'en_US-joe-medium')).toBe(true);
});

test('a Piper model speaks the language of its voice only', () => {
  const { tags, find } = piperLanguages('en-US');
  expect(tags).toEqual(['en-US']);
  expect(['en', 'en_us', 'es', 'en-GB'].map(find)).toEqual(['en-US', 'en-US', undefined, undefined]);
});

test('a voice with several speakers has their names, and its own for the default speaker', () => {
  const emotional = {
    voice: 'de_DE-thorsten_emotional-medium',
    language: 'de-DE',
    speakers: ['amused', 'Angry'],
    speaker: 'Angry',
  };
  const { list, find } = piperVoices(emotional);
  expect(list.slice(0, 3)).toEqual([
    {
      id: 'de_DE-thorsten_emotional-medium',
      name: 'Thorsten emotional',
      language: 'de-DE',
      preset: 'Angry',
    },
    { id: 'amused', name: 'Amused', language: 'de-DE' },
    { id: 'Angry', name: 'Angry', language: 'de-DE' },
  ]);
  const heard = (name: string) => find(name)?.voice;
  expect(['AMUSED', 'angry', 'thorsten_emotional', 'alloy'].map(heard)).toEqual(
    ['amused', 'Angry', 'Angry', 'Angry'].map((name) => ({ kind: 'preset', name })),
  );
  expect(['__proto__', 'constructor', 'sleepy'].map(find)).toEqual([undefined, undefined, undefined]);
  expect(() => requireSpeaker(emotional)).not.toThrow();
  expect(() => requireSpeaker({ ...emotional, speaker: 'anger' })).toThrow(
    "CONFIG: unknown speaker 'anger' of the Piper voice de_DE-thorsten_emotional-medium; it must be one of its 2 speakers: amused, Angry.",
  );
  expect(() => requireSpeaker({ ...emotional, speakers: [] })).toThrow('it has only one speaker');
});

test.each([
  ['de_DE-thorsten-medium', 'en_US', 'de', 'de-DE'],
  ['/srv/pt_PT-tugao-medium.onnx', undefined, undefined, 'pt-PT'],
  ['/srv/mine.onnx', 'de_AT', 'de', 'de-AT'],
  ['/srv/mine.onnx', 'en_US', 'de', 'de'],
  ['/srv/mine.onnx', 'no_NO', 'nb', 'no-NO'],
  ['/srv/mine.onnx', undefined, 'sv', 'sv'],
  ['/srv/mine.onnx', 'uk_UA', undefined, 'uk-UA'],
])('the language of %s with the code %s and the phonemes %s is %s', (voice, code, espeak, language) => {
  expect(piperLanguage(voice, code, espeak)).toBe(language);
});

test('a voice of a language without a front end speaks all tags of its language', () => {
  expect(['de', 'DE_at', 'de-Latn-CH', 'en', 'nl', ''].map(piperLanguages('de-DE').find)).toEqual([
    'de-DE',
    'de-DE',
    'de-DE',
    undefined,
    undefined,
    undefined,
  ]);
  expect(['nb', 'no'].map(piperLanguages('no-NO').find)).toEqual(['no-NO', 'no-NO']);
  expect(['es', 'es-ES', 'pt'].map(piperLanguages('es-MX').find)).toEqual(['es-MX', 'es-MX', undefined]);
});
