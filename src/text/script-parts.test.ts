import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scriptParts } from './script-parts.ts';

/** The parts as "text|language", without those in the language of the text. */
const othersOf = (text: string, language: string) =>
  scriptParts(text, language)
    .filter((part) => part.language !== language)
    .map((part) => `${part.text}|${part.language}`);

describe('the parts of a text in other scripts', () => {
  test.each([
    ['The word 寿司 means sushi.', 'en-US', ['寿司|zh']],
    ['The word 寿司 (すし) means sushi.', 'en-US', ['寿司 (すし)|ja']],
    ['Is it 東京, or "京都"?', 'es', ['東京,|zh', '"京都"?|zh']],
    ['A ラーメン、and 天ぷら。', 'en-GB', ['ラーメン、|ja', '天ぷら。|ja']],
    ['Say नमस्ते, आप कैसे हैं? now', 'fr', ['नमस्ते, आप कैसे हैं?|hi']],
    ['We say 안녕하세요 and مرحبا here.', 'it', ['안녕하세요|ko', 'مرحبا|ar']],
    ['他说ありがとう。', 'zh', []],
    ['彼は東京に行く。', 'ja', []],
    ['आप 寿司 खाइए।', 'hi', ['寿司|zh']],
    ['我说नमस्ते。', 'zh', ['नमस्ते。|hi']],
    ['The π and мир.', 'en-US', []],
    ['No other script.', 'en-US', []],
    ['', 'en-US', []],
  ])('%s in %s', (text, language, parts) => {
    expect(othersOf(text, language)).toEqual(parts);
  });

  test('together with the rest are the text, whatever it is', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom(...'ab 寿すラनمر한,.("。'), fc.string({ unit: 'binary', maxLength: 1 })),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.constantFrom('en-US', 'hi', 'zh', 'ja'), (written, language) => {
        const parts = scriptParts(written, language);
        expect(parts.map((part) => part.text).join('')).toBe(written);
        for (const part of parts) {
          expect(part.text).not.toBe('');
          expect(written.startsWith(part.text, part.start)).toBe(true);
        }
      }),
    );
  });
});
