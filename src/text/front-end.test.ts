import { describe, expect, test } from 'vitest';
import {
  FRONT_ENDS,
  frontEndOf,
  languageOfScript,
  requireFrontEnd,
  spokenForm,
  wordsIn,
} from './front-end.ts';

describe('the front end of a tag', () => {
  test.each([
    ['en', 'en-US'],
    ['EN_us', 'en-US'],
    ['en-GB', 'en-GB'],
    ['en-au', 'en-GB'],
    ['en-CA', 'en-US'],
    ['es', 'es'],
    ['es-419', 'es'],
    [' es-MX ', 'es'],
    ['fr-CA', 'fr'],
    ['it_IT', 'it'],
    ['pt', 'pt-BR'],
    ['PT-br', 'pt-BR'],
    ['pt-PT', 'pt-BR'],
    ['hi-Deva-IN', 'hi'],
    ['zh-CN', 'zh'],
    ['zh-Hant-TW', 'zh'],
    ['cmn-Hans', 'zh'],
    ['ja_JP', 'ja'],
  ])('%j is %s', (tag, language) => expect(frontEndOf(tag)?.language).toBe(language));

  test.each(['', '-', 'de', 'yue', 'esp', 'e', 'constructor', 'x'.repeat(100), 'es'.repeat(40)])(
    '%j has none',
    (tag) => {
      expect(frontEndOf(tag)).toBeUndefined();
    },
  );

  test('is the only one with its tags, aliases and letter of voices', () => {
    const tags = FRONT_ENDS.flatMap(({ language, aliases }) => [language.toLowerCase(), ...aliases]);
    expect(new Set(tags).size).toBe(tags.length);
    const withVoices = FRONT_ENDS.filter(({ borrowsKokoroVoice }) => !borrowsKokoroVoice);
    const letters = withVoices.map(({ kokoroVoice }) => kokoroVoice.charAt(0));
    expect(new Set(letters).size).toBe(letters.length);
  });
});

describe('the language of letters', () => {
  test.each([
    ['नमस्ते, आप कैसे हैं?', 'en-US', 'hi'],
    ['नमस्ते John, आप कैसे हैं?', 'es', 'hi'],
    ['The word नमस्ते is Hindi.', 'en-US', 'en-US'],
    ['Hello there.', 'hi', 'hi'],
    ['123', 'fr', 'fr'],
    ['你好，世界。', 'en-GB', 'zh'],
    ['我用iPhone。', 'zh', 'zh'],
    ['我喜欢 Beethoven 的音乐。', 'en-US', 'en-US'],
    ['नमस्ते', 'zh', 'hi'],
    ['日本語のテキスト', 'en-GB', 'ja'],
    ['東京タワーは333mです。', 'hi', 'ja'],
  ])('%s with a voice of %s is %s', (text, ofVoice, language) => {
    expect(languageOfScript(text, ofVoice)).toBe(language);
  });
});

test('languages without a front end have the words as written, and any script', () => {
  expect(wordsIn('de-DE')(' Es  ist 12:30. ')).toEqual([
    { text: 'Es', source: 1 },
    { text: 'ist', source: 5 },
    { text: '12:30.', source: 9 },
  ]);
  expect(wordsIn('es-MX')('5 €').map(({ text }) => text)).toEqual(['cinco', 'euros']);
  expect(languageOfScript('नमस्ते', 'de-DE')).toBe('hi');
  expect(languageOfScript('Hallo', 'de-DE')).toBe('de-DE');
});

test.each([
  ['en-US', 'In 2024年3月5日 it rained.', 'In twenty twenty-four 年三月五日 it rained.'],
  ['es', 'Son 5 € (寿司).', 'Son cinco euros (寿司).'],
  ['en-US', 'Say "नमस्ते" twice.', 'Say "नमस्ते" twice.'],
])('the spoken form in %s has the words of other scripts: %s', (language, text, spoken) => {
  expect(spokenForm(requireFrontEnd(language), text)).toBe(spoken);
});

describe('every front end', () => {
  test.each(FRONT_ENDS.map((frontEnd) => [frontEnd.language, frontEnd] as const))('%s', (_, frontEnd) => {
    for (const text of [
      '',
      ' ',
      '\n\n',
      '…',
      '😀',
      '\ud800',
      '\u0000',
      '(',
      '[](',
      '**',
      '$',
      '9'.repeat(5000),
    ]) {
      for (const word of frontEnd.words(text)) expect(word.text).toMatch(/^\S+$/u);
    }
    const text = '**Radio**,\n\n- 12 radio\n- 13';
    const words = frontEnd.words(text);
    expect(words[0]).toEqual({ text: 'Radio,', source: 2 });
    for (const { source } of words) expect(text.charAt(source)).toMatch(/\S/);
    expect(words.map((word) => word.text).join(' ')).not.toMatch(/[0-9]/);
  });

  test('reads a long text', () => {
    for (const { language } of FRONT_ENDS) {
      const text = '1.234,5 €, a-b_c@d.e 12/12/2024 10:30 x² ½ '.repeat(500);
      expect(spokenForm(requireFrontEnd(language), text)).not.toMatch(/[0-9]/);
    }
  });
});
