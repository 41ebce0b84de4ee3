import { describe, expect, test } from 'vitest';
import { type Espeak, loadEspeak } from '../../espeak.ts';
import { espeakFallback, kokoroSymbols } from './espeak-fallback.ts';

/** Returns every word as its own phonemes and counts the calls. */
function echo(lines: (text: string) => string[] = (text) => text.split('.\n')): {
  espeak: Espeak;
  asked: string[];
} {
  const asked: string[] = [];
  const espeak: Espeak = async (text) => {
    asked.push(text);
    return lines(text);
  };
  return { asked, espeak };
}

describe('symbols', () => {
  test.each([
    ['kˌuːbɚnˈɛɾiːz', 'kˌubəɹnˈɛɾiz'],
    ['həlˈoʊ', 'həlˈO'],
    ['dʒˈeɪ', 'ʤˈA'],
    ['tʃˈɔɪ', 'ʧˈY'],
    ['haʊ aɪ', 'hW I'],
    ['bˈɜːd', 'bˈɜɹd'],
    ['lˈɪɹəl', 'lˈɪɹᵊl'],
    ['(fr)bɔ̃(en)', 'bɔ'],
  ])('%s', (ipa, symbols) => expect(kokoroSymbols(ipa)).toBe(symbols));
});

describe('fallback', () => {
  test('requests all words in one call and caches them', async () => {
    const { espeak, asked } = echo();
    const fallback = espeakFallback(espeak);
    expect(await fallback.phonemes(['ab', 'bu', 'ab'])).toEqual(['ab', 'bu', 'ab']);
    expect(await fallback.phonemes(['bu', 'ab'])).toEqual(['bu', 'ab']);
    expect(asked).toEqual(['ab.\nbu']);
  });

  test('requests words one by one if the lines do not match them', async () => {
    const { espeak, asked } = echo((text) => (text.includes('\n') ? ['one'] : [text, 'more']));
    expect(await espeakFallback(espeak).phonemes(['a', 'b'])).toEqual(
      ['a mɔɹA', 'b mɔɹA'].map(() => expect.any(String)),
    );
    expect(asked).toEqual(['a.\nb', 'a', 'b']);
  });

  test('returns no phonemes for scripts that the voice does not support', async () => {
    const { espeak, asked } = echo();
    expect(await espeakFallback(espeak).phonemes(['日本', 'мир'])).toEqual(['', '']);
    expect(asked).toEqual([]);
  });

  test('truncates a word of thousands of letters', async () => {
    const { espeak, asked } = echo();
    await espeakFallback(espeak).phonemes(['a'.repeat(5000)]);
    expect(asked[0]?.length).toBe(60);
  });

  test('evicts the least recently used words beyond its limit', async () => {
    const { espeak, asked } = echo();
    const fallback = espeakFallback(espeak);
    const many = Array.from({ length: 4096 }, (_, i) => `w${i}`);
    await fallback.phonemes(many);
    await fallback.phonemes(['w0']);
    await fallback.phonemes(['another']);
    await fallback.phonemes(['w0', 'w1']);
    expect(asked.slice(1)).toEqual(['another', 'w1']);
  });

  test('accepts more words in one call than the cache holds', async () => {
    const { espeak } = echo();
    const many = Array.from({ length: 5000 }, (_, i) => `w${i}`);
    expect((await espeakFallback(espeak).phonemes(many))[0]).toBe('w0');
  });
});

describe('eSpeak NG', () => {
  test('returns phonemes and leaves no handler for uncaught errors behind', async () => {
    const count = () =>
      process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection');
    const before = count();
    const fallback = espeakFallback(await loadEspeak());
    expect(count()).toBe(before);
    expect(await fallback.phonemes(['Kubernetes', 'zorblax'])).toEqual([
      'kˌubəɹnˈɛɾiz',
      expect.stringMatching(/^zˈ/),
    ]);
  });
});
