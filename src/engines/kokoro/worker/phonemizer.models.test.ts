/** Japanese with its dictionary, and texts with words in other scripts. */

import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import { type KokoroPhonemizer, loadPhonemizer } from './phonemizer.ts';

const { modelsDir } = loadConfig(process.env);
/** What eSpeak was asked for. */
const asked: string[] = [];
let phonemizer: KokoroPhonemizer;
beforeAll(async () => {
  phonemizer = await loadPhonemizer(modelsDir, async (_, clauses) => {
    asked.push(...clauses);
    return clauses.map(() => 'həlˈo^ʊ');
  });
});

const phonemesOf = async (text: string) => (await phonemizer.phonemize(text, 'ja')).phonemes;

describe('Japanese text', () => {
  test.each([
    ['は, へ and を as particles', '母は海へ花を見に行く。', 'haha βa ɯmʲi e hana o mʲi ɲi ikɯ.'],
    ['long vowels and っ', '学校で、もっと勉強しよう。', 'ɡaʔkoː de, moʔto beŋkʲoː ɕijoː.'],
    ['numbers as one word', '3本で500円です。', 'samboɴ de ɡoçakɯeɴ desɨ.'],
    ['numbers in Kanji', '三匹が二回', 'sambʲikʲi ɡa ɲikai'],
    ['quotes and other marks', '「はい！」…と、言った？', '“hai!” … to, iʔta?'],
    ['brackets as nothing', '東京（日本）', 'toːkʲoː ɲiʔpoɴ'],
    ['a character that the dictionary lacks', '龘', 'kaɲʥi'],
    ['signs alone', '。、…', ''],
  ])('has %s', async (_, text, phonemes) => expect(await phonemesOf(text)).toBe(phonemes));

  test('has Latin words by eSpeak, and short capitals as letters', async () => {
    asked.length = 0;
    expect(await phonemesOf('私はiPhoneとUSBを使う。')).toBe('βataɕi βa həlˈO to jɯːesɨbʲiː o ʦɨkaɯ.');
    expect(asked).toEqual(['iPhone']);
  });

  test('has the positions of its words', async () => {
    const text = '猫が3匹、犬も。';
    const { phonemes, sources } = await phonemizer.phonemize(text, 'ja');
    const starts = [...new Set(sources)].filter((source) => source !== undefined);
    expect(phonemes).toBe('neko ɡa sambʲikʲi, inɯ mo.');
    expect(starts.map((start) => text.charAt(start))).toEqual([...'猫が3犬も']);
  });
});

const japanese = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'、。「」（）ー々ゝっんはへを0123456789円年月日本匹回分時%〜',
        'ABC',
        'hello',
        '\ud842\udfb7',
      ),
      fc.integer({ min: 0x3041, max: 0x30ff }).map((code) => String.fromCodePoint(code)),
      fc.integer({ min: 0x4e00, max: 0x9fff }).map((code) => String.fromCodePoint(code)),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

test('any Japanese text has phonemes whose positions are in the text, in order', async () => {
  await fc.assert(
    fc.asyncProperty(japanese, async (text) => {
      const { phonemes, sources } = await phonemizer.phonemize(text, 'ja');
      expect([...phonemes].filter((symbol) => !phonemizer.vocabulary.has(symbol))).toEqual([]);
      expect(sources).toHaveLength([...phonemes].length);
      if (/[\u3042-\u3093\u4e00-\u9fff]/u.test(text)) expect(phonemes).not.toBe('');
      let last = 0;
      for (const source of sources) {
        if (source === undefined) continue;
        expect(source).toBeGreaterThanOrEqual(last);
        expect(source).toBeLessThan(text.length);
        last = source;
      }
    }),
  );
});

test('the text after any part is still spoken', async () => {
  await fc.assert(
    fc.asyncProperty(japanese, async (text) => {
      expect(await phonemesOf(`${text}。さかな。`)).toMatch(/sakana\.$/u);
    }),
  );
});

describe('words in another script', () => {
  test.each([
    ['en-US', 'The word 寿司 means sushi.', 'ðə wˈɜɹd ʂou↘sɨ→ mˈinz sˈuʃi.'],
    ['en-US', 'The word すし or 寿司.', 'ðə wˈɜɹd sɨɕi ɔɹ sɨɕi.'],
    ['en-US', '我喜欢 Beethoven 的音乐。', 'wo↓ ɕi↓xwa→n bˈAtOvən tɤ i→nɥe↘.'],
    ['es', 'El 寿司, de Japón.', 'həlˈO ʂou↘sɨ→, həlˈO.'],
    ['en-US', 'Say "नमस्ते".', 'sˈA "həlˈO".'],
    ['en-US', 'Say 안녕 now.', 'sˈA həlˈO nˈW.'],
  ])('are spoken in %s: %s', async (language, text, phonemes) => {
    const spoken = await phonemizer.phonemize(text, language);
    expect(spoken.phonemes).toBe(phonemes);
    expect(spoken.sources).toHaveLength([...phonemes].length);
  });

  test('have the positions of their words, also with given sounds', async () => {
    const text = 'Eat 寿司, 天ぷら now.';
    const given = [{ start: text.indexOf('now'), end: text.indexOf('now') + 3, ipa: 'nˈaʊ' }];
    const { sources } = await phonemizer.phonemize(text, 'en-US', given);
    const starts = [...new Set(sources)].filter((source) => source !== undefined);
    expect(starts.map((start) => text.charAt(start))).toEqual([...'E寿天n']);
  });
});
