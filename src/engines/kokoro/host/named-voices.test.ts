import { describe, expect, test } from 'vitest';
import { OPENAI_VOICES } from '../../../contract/engines/named-voice.ts';
import { spokenPresetNames } from '../shared/preset-languages.ts';
import { readMix } from '../shared/voice-mix.ts';
import { kokoroVoices } from './named-voices.ts';

const voices = kokoroVoices('af_heart');

/** The weights of a name; undefined if it is unknown. */
function weightsOf(name: string) {
  const voice = voices.find(name)?.voice;
  if (voice?.kind === 'preset') return { [voice.name]: 1 };
  const mix = voice && readMix(voice.adaptation);
  if (mix) expect(mix.prosody).toEqual(mix.timbre);
  return mix?.timbre;
}

describe('the list', () => {
  test("has OpenAI's voices and the presets of all supported languages, each of which can be requested", () => {
    const ids = voices.list.map(({ id }) => id);
    expect(ids).toEqual([...OPENAI_VOICES, ...spokenPresetNames()]);
    expect(ids.filter((id) => voices.find(id) === undefined)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has language, gender, and the preset behind a name of OpenAI', () => {
    const of = (id: string) => voices.list.find((voice) => voice.id === id);
    expect(of('nova')).toEqual({
      id: 'nova',
      name: 'Nova',
      language: 'en-US',
      gender: 'female',
      preset: 'af_nova',
    });
    expect(of('fable')).toMatchObject({ language: 'en-GB', gender: 'male', preset: 'bm_fable' });
    expect(of('pf_dora')).toMatchObject({ language: 'pt-BR', gender: 'female' });
    expect(of('hm_omega')).toMatchObject({ language: 'hi', gender: 'male' });
    expect(of('jm_kumo')).toMatchObject({ language: 'ja', gender: 'male' });
    expect(of('bf_emma')).toEqual({ id: 'bf_emma', name: 'Emma', language: 'en-GB', gender: 'female' });
    const presets = voices.list.flatMap(({ preset }) => preset ?? []);
    expect(new Set(presets).size).toBe(OPENAI_VOICES.length);
    const men = voices.list.slice(0, OPENAI_VOICES.length).filter(({ gender }) => gender === 'male');
    expect(men.map(({ id }) => id)).toEqual(['ash', 'ballad', 'cedar', 'echo', 'fable', 'onyx', 'verse']);
  });
});

describe('a name', () => {
  test('is a preset or a name of OpenAI, in any case', () => {
    expect(weightsOf('af_bella')).toEqual({ af_bella: 1 });
    expect(weightsOf(' AF_Bella ')).toEqual({ af_bella: 1 });
    expect(weightsOf('Onyx')).toEqual({ am_onyx: 1 });
  });

  test('of the default voice selects the loaded preset, others a mix that needs no measurement', () => {
    expect(voices.find('af_heart')?.voice).toEqual({ kind: 'preset', name: 'af_heart' });
    expect(voices.find('af_sky')?.voice).toMatchObject({ kind: 'adaptation' });
  });

  test.each(['', ' ', 'zz_unknown', 'kf_alpha', 'constructor', '__proto__', 'a'.repeat(300), 'heart'])(
    '%j is unknown, without a further problem',
    (name) => {
      expect(voices.find(name)).toBeUndefined();
      expect(voices.problemOf(name)).toBeUndefined();
    },
  );
});

describe('the language of a name', () => {
  test.each([
    ['af_heart', 'en-US'],
    ['fable', 'en-GB'],
    ['EF_Dora', 'es'],
    ['ff_siwis', 'fr'],
    ['if_sara', 'it'],
    ['pm_santa', 'pt-BR'],
    ['hf_beta', 'hi'],
    ['jf_alpha', 'ja'],
    ['af_heart:0.3+if_sara:0.7', 'it'],
    ['af_heart+if_sara', 'en-US'],
  ])('%s is %s', (name, language) => expect(voices.find(name)?.language).toBe(language));
});

test.each([
  ['nova', true],
  ['Alloy', true],
  ['alloy+nova', true],
  ['alloy+af_nova', false],
  ['af_heart', false],
  ['ff_siwis', false],
])('the voice %s is of any language: %s', (name, isOfAnyLanguage) => {
  expect(voices.find(name)?.isOfAnyLanguage).toBe(isOfAnyLanguage);
});

describe('a blend', () => {
  test.each([
    ['af_heart:0.6+am_adam:0.4', { af_heart: 0.6, am_adam: 0.4 }],
    ['af_bella(2)+af_sky(1)', { af_bella: 0.6667, af_sky: 0.3333 }],
    ['af_bella+af_sky', { af_bella: 0.5, af_sky: 0.5 }],
    [' AF_Bella ( 2 ) + af_sky ', { af_bella: 0.6667, af_sky: 0.3333 }],
    ['af_bella(3)+af_sky:1', { af_bella: 0.75, af_sky: 0.25 }],
    ['alloy+nova', { af_alloy: 0.5, af_nova: 0.5 }],
    ['alloy+af_alloy', { af_alloy: 1 }],
    ['af_sky(2)', { af_sky: 1 }],
    ['af_sky:.5+af_bella:0.5', { af_bella: 0.5, af_sky: 0.5 }],
    ['af_sky:100+af_bella:0.001', { af_sky: 1 }],
  ])('%j', (name, weights) => {
    expect(weightsOf(name)).toEqual(weights);
  });

  test('of all weights has the sum 1', () => {
    const sum = Object.values(weightsOf('af_bella(1)+af_sky(1)+af_nova(1)') ?? {}).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(1, 3);
  });

  test.each([
    ['af_bella+', 'must have a form such as'],
    ['+af_bella', 'must have a form such as'],
    ['af_bella++af_sky', 'must have a form such as'],
    ['af_bella-(1)', 'must have a form such as'],
    ['af_bella(2', 'must have a form such as'],
    ['af_bella(-1)+af_sky', 'must have a form such as'],
    ['af_bella:1e3+af_sky', 'must have a form such as'],
    ['af_bella:0+af_sky', 'above 0 and at most 100'],
    ['af_bella:101+af_sky', 'above 0 and at most 100'],
    ['af_bella:1.2.3+af_sky', 'above 0 and at most 100'],
    ['af_bella+af_skyy', "unknown voice 'af_skyy'. Did you mean 'af_sky'"],
    ['af_bella+kf_alpha', "unknown voice 'kf_alpha'"],
    [new Array(9).fill('af_sky').join('+'), 'at most 8 voices'],
  ])('%j is rejected: %s', (name, problem) => {
    expect(voices.find(name)).toBeUndefined();
    expect(voices.problemOf(name)).toContain(problem);
  });
});
