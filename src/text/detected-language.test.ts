import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eld } from 'eld/extrasmall';
import { describe, expect, test } from 'vitest';
import { detectedLanguage, MAX_DETECTED_CHARACTERS } from './detected-language.ts';
import { evidenceFor, ngramsOf } from './detection/language-evidence.ts';
import { plainWords } from './detection/plain-words.ts';
import { profilesOf } from './detection/profiles.ts';
import { FRONT_ENDS } from './front-end.ts';

const KOKORO = { languages: FRONT_ENDS.map(({ language }) => language), usual: 'en-US' };
const CORPUS = join(import.meta.dirname, '../../bench/corpus/languages');
const corpus = (name: string) =>
  readFileSync(join(CORPUS, `${name}.txt`), 'utf8')
    .trim()
    .split('\n');

describe('texts of 3 to 13 words', () => {
  test.each([
    ['en', 'en-US', 0],
    ['es', 'es', 0],
    ['fr', 'fr', 0],
    ['it', 'it', 0],
    ['pt', 'pt-BR', 1],
    ['hi', 'hi', 0],
    ['ja', 'ja', 0],
    ['zh', 'zh', 0],
  ])('in %s are known', (name, language, maxUncertain) => {
    const found = corpus(name).map((text) => detectedLanguage(text, KOKORO));
    expect(found.length).toBeGreaterThanOrEqual(50);
    expect(found.filter((each) => each !== language && each !== undefined)).toEqual([]);
    expect(found.filter((each) => each === undefined).length).toBeLessThanOrEqual(maxUncertain);
  });

  test('in English with names, foreign words, code, lists and numbers are never in another language', () => {
    const texts = corpus('en-mixed');
    expect(texts.length).toBeGreaterThanOrEqual(200);
    for (const languages of [
      KOKORO.languages,
      [...KOKORO.languages, 'de', 'nl-NL', 'pl', 'ru', 'nb-NO', 'tr'],
    ]) {
      const found = texts.map((text) => detectedLanguage(text, { languages, usual: 'en-GB' }));
      expect(found.filter((language) => language !== 'en-GB' && language !== undefined)).toEqual([]);
    }
  });
});

describe('a text', () => {
  test.each([
    ['Bonjour, comment ça va ?', 'fr'],
    ['Hola, ¿cómo estás?', 'es'],
    ['BUENOS DÍAS A TODOS, SEÑORAS Y SEÑORES', 'es'],
    ['Son las 15:30 y cuesta 5,50 €.', 'es'],
    ['Scrivi a maria@example.com oppure guarda su https://example.com/it quando hai tempo.', 'it'],
    ['नमस्ते, आप कैसे हैं?', 'hi'],
    ['Guten Morgen, wie geht es dir heute?', undefined],
  ])('%j is in %s', (text, language) => expect(detectedLanguage(text, KOKORO)).toBe(language));

  test.each(['', '…', '42', 'https://example.com/la/casa/de/la/playa', 'Menu', 'Piano solo'])(
    '%j is uncertain',
    (text) => expect(detectedLanguage(text, KOKORO)).toBeUndefined(),
  );

  test('is in a language of the model, and in the usual one of a model with one language', () => {
    const text = 'Guten Morgen, wie geht es dir heute? Ich habe gut geschlafen.';
    expect(detectedLanguage(text, { languages: ['en-US', 'de-DE'], usual: 'en-US' })).toBe('de-DE');
    expect(detectedLanguage(text, { languages: ['en-US'], usual: 'en-US' })).toBe('en-US');
    expect(detectedLanguage('Доброе утро, как у вас дела?', { languages: ['en', 'ru'], usual: 'en' })).toBe(
      'ru',
    );
  });

  test('in English is known with another usual language, and its region is that of the usual one', () => {
    const text = 'Please close the window before you leave.';
    expect(detectedLanguage(text, { ...KOKORO, usual: 'fr' })).toBe('en-US');
    expect(detectedLanguage(text, { ...KOKORO, usual: 'en-GB' })).toBe('en-GB');
  });

  test('in a usual language without n-grams is uncertain', () => {
    const possible = { languages: ['cy', 'fr'], usual: 'cy' };
    expect(detectedLanguage('Pouvez-vous me dire où se trouve la gare ?', possible)).toBeUndefined();
  });

  test('is known by its beginning', () => {
    const english = 'Please close the window before you leave. '.repeat(MAX_DETECTED_CHARACTERS / 40);
    expect(detectedLanguage(`${english}${'Où se trouve la gare ? '.repeat(500)}`, KOKORO)).toBe('en-US');
  });
});

test('plain words have no names, quotations, addresses, code and numbers', () => {
  expect(plainWords('I met José Luis in "la casa azul" at 10 km; see a.b/c, x_y and foo(1).')).toEqual([
    'i',
    'met',
    'in',
    'at',
    'km',
    'see',
    'and',
  ]);
  expect(plainWords("L'été, c'est ‘bien’!")).toEqual(["l'été", "c'est", 'bien']);
  expect(plainWords('… 42')).toEqual([]);
});

test('the evidence orders languages as eld does', () => {
  const codes = ['en', 'es', 'fr', 'it', 'pt'];
  const detector = eld.newInstance();
  detector.setLanguageSubset(codes);
  const profiles = profilesOf(codes);
  for (const text of codes.flatMap(corpus)) {
    const ngrams = ngramsOf(plainWords(text.toLowerCase()));
    const evidence = new Map([...profiles].map(([code, profile]) => [code, evidenceFor(profile, ngrams)]));
    const [best] = codes.toSorted((a, b) => (evidence.get(b) ?? 0) - (evidence.get(a) ?? 0));
    expect(best, text).toBe(detector.detect(text).language);
  }
});

test.each(['a', 'A', "'", ' ', '"', 'a.', 'a(', '.', '’A', '\n', 'a\u0301'])(
  'a paragraph of many %j is in no other language',
  (unit) => {
    const text = unit.repeat(MAX_DETECTED_CHARACTERS);
    expect(plainWords(text).join('').length).toBeLessThanOrEqual(2 * text.length);
    expect([undefined, 'en-US']).toContain(detectedLanguage(text.repeat(100), KOKORO));
  },
);
