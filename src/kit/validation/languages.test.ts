import { describe, expect, it } from 'vitest';
import { languageCode, languageName, languageRule, reducedLanguage } from './languages.ts';

it.each([
  ['en', 'english'],
  ['de', 'german'],
  ['zh', 'chinese'],
  ['he', 'hebrew'],
  ['no', 'norwegian'],
  ['haw', 'hawaiian'],
  ['yue', 'cantonese'],
])('%s is %s', (code, name) => {
  expect(languageName(code)).toBe(name);
});

it.each(['xx', 'english', '', 'EN', 'e', 'en-US', '__proto__'])('%j is not a language code', (code) => {
  expect(languageName(code)).toBeUndefined();
});

it.each([
  ['english', 'en'],
  ['German', 'de'],
  ['de', 'de'],
  ['Hebrew', 'he'],
  ['myanmar', 'my'],
  ['burmese', 'my'],
  ['nynorsk', 'nn'],
  ['haitian creole', 'ht'],
])('%s is the language %s', (name, code) => {
  expect(languageCode(name)).toBe(code);
});

it.each(['klingon', '', 'constructor', 'undefined'])('%j is not a language', (name) => {
  expect(languageCode(name)).toBeUndefined();
});

describe('reducedLanguage', () => {
  const WHISPER = [
    'en',
    'de',
    'pt',
    'zh',
    'fr',
    'he',
    'id',
    'jv',
    'tl',
    'no',
    'nn',
    'yue',
    'haw',
    'es',
    'my',
  ];

  it.each([
    ...['en', 'EN', ' en ', 'en-US', 'en_US', 'en-us', 'EN_gb', 'en-US-x-private', 'en_US.UTF-8', 'eng'].map(
      (text) => [text, 'en'],
    ),
    ...['english', 'English', 'ENGLISH'].map((text) => [text, 'en']),
    ...['pt_BR', 'pt-PT', 'portuguese', 'por'].map((text) => [text, 'pt']),
    ...['de', 'de-AT', 'deu', 'ger', 'German', 'de_DE@euro'].map((text) => [text, 'de']),
    ...['zh-CN', 'zh-Hant-TW', 'zh_Hans', 'cmn', 'cmn-Hans-CN', 'chi', 'zho', 'Chinese', 'mandarin'].map(
      (text) => [text, 'zh'],
    ),
    ...['yue', 'yue-HK', 'zh-yue', 'Cantonese'].map((text) => [text, 'yue']),
    ['fre', 'fr'],
    ['iw', 'he'],
    ['in', 'id'],
    ['jw', 'jv'],
    ['fil-PH', 'tl'],
    ['nb-NO', 'no'],
    ['nn-NO', 'nn'],
    ['Hawaiian', 'haw'],
    ['es-419', 'es'],
    ['castilian', 'es'],
    ['burmese', 'my'],
  ])('%s is %s', (written, code) => {
    expect(reducedLanguage(written ?? '', WHISPER)).toBe(code);
  });

  it.each([
    '',
    'xx',
    'klingon',
    'it',
    'it-IT',
    'en-',
    'en US',
    'e',
    'en;de',
    'english-',
    '__proto__',
    'x'.repeat(10_000),
  ])('%j is not a language of the model', (written) => {
    expect(reducedLanguage(written, WHISPER)).toBeUndefined();
  });

  it('accepts every ISO 639-1 code if the languages of the model are not known', () => {
    expect(['it-IT', 'Italian', 'ita', 'EN'].map((text) => reducedLanguage(text, undefined))).toEqual([
      ...['it', 'it', 'it', 'en'],
    ]);
    for (const text of ['xx', 'klingon', '']) expect(reducedLanguage(text, undefined)).toBeUndefined();
  });

  it('has a rule for error messages', () => {
    expect(languageRule(['en', 'de'])).toBe('one of en, de');
    expect(languageRule(undefined)).toBe('an ISO 639-1 code');
  });
});
