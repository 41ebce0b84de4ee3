import { describe, expect, test } from 'vitest';
import { possibleLanguages, SentenceLanguages } from './sentence-languages.ts';

const POSSIBLE = { languages: ['en-US', 'es', 'fr', 'hi'], usual: 'en-US' };
const FRENCH = 'Pouvez-vous me dire où se trouve la gare ?';
const SPANISH = '¿Me puede decir dónde está la estación?';
const ENGLISH = 'Could you tell me where the station is?';

describe('a complete text', () => {
  test('has a language for each paragraph', () => {
    const sentences = [`${FRENCH} `, 'Merci.\n', `${ENGLISH}\n\n`, `${SPANISH} `, 'Sí.'];
    expect(new SentenceLanguages().all(sentences, POSSIBLE)).toEqual(['fr', 'fr', undefined, 'es', 'es']);
  });

  test.each([
    ['before it', [`${FRENCH}\n`, 'Menu\n', '10 km'], ['fr', 'fr', 'fr']],
    ['after it, at the start', ['Menu\n', `${FRENCH}\n`, `${ENGLISH}`], ['fr', 'fr', undefined]],
    ['that is usual', [`${ENGLISH}\n`, 'Menu\n', `${FRENCH}`], [undefined, undefined, 'fr']],
  ])('has uncertain paragraphs in the language of the certain one %s', (_, sentences, languages) => {
    expect(new SentenceLanguages().all(sentences, POSSIBLE)).toEqual(languages);
  });

  test('without a certain paragraph is in the usual language', () => {
    expect(new SentenceLanguages().all(['Menu\n', 'Hotel'], POSSIBLE)).toEqual([undefined, undefined]);
    expect(new SentenceLanguages().all([], POSSIBLE)).toEqual([]);
  });

  test('in several parts continues in the language of the part before', () => {
    const languages = new SentenceLanguages();
    expect(languages.all([FRENCH], POSSIBLE)).toEqual(['fr']);
    expect(languages.all(['Menu'], POSSIBLE)).toEqual(['fr']);
  });
});

test('a streamed sentence is in the language of its paragraph so far', () => {
  const languages = new SentenceLanguages();
  const next = (sentence: string) => languages.next(sentence, POSSIBLE);
  expect(['Menu. ', `${FRENCH} `, 'Hotel.\n', '10 km\n', `${ENGLISH} `].map(next)).toEqual([
    undefined,
    'fr',
    'fr',
    'fr',
    undefined,
  ]);
  expect(
    ['Où ', 'se trouve ', 'la gare ?'].map((part) => new SentenceLanguages().next(part, POSSIBLE)),
  ).toEqual([undefined, undefined, undefined]);
  const parts = new SentenceLanguages();
  expect(['Où ', 'se trouve ', 'la gare ?'].map((part) => parts.next(part, POSSIBLE)).at(-1)).toBe('fr');
});

test('languages are detected for voices without a language of their own, unless the request names one', () => {
  const engine = {
    languages: ['en-US', 'fr'],
    voiceLanguage: (name: string | undefined) =>
      name === 'unknown' ? undefined : { tag: 'en-US', isChosen: name === 'af_heart' },
  };
  const possible = { languages: ['en-US', 'fr'], usual: 'en-US' };
  expect(possibleLanguages(engine, { voiceName: 'nova' })).toEqual(possible);
  expect(possibleLanguages(engine, {})).toEqual(possible);
  expect(possibleLanguages(engine, { voiceName: 'af_heart' })).toBeUndefined();
  expect(possibleLanguages(engine, { voiceName: 'unknown' })).toBeUndefined();
  expect(possibleLanguages(engine, { voiceName: 'nova', language: 'fr' })).toBeUndefined();
  expect(possibleLanguages({ ...engine, languages: ['en-US'] }, {})).toBeUndefined();
  expect(possibleLanguages({ voiceLanguage: engine.voiceLanguage }, {})).toBeUndefined();
  expect(possibleLanguages({ languages: ['en-US', 'fr'] }, {})).toBeUndefined();
});
