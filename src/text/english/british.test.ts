import { describe, expect, test } from 'vitest';
import { createKokoroG2p } from './g2p/kokoro-g2p.ts';
import { Lexicon } from './g2p/lexicon.ts';
import { withEd, withIng, withS } from './g2p/stress.ts';
import { britishSymbols } from './index.ts';

/** A part of misaki's gb_gold.json. */
const GOLD = {
  am: 'am',
  horse: 'hˈɔːs',
  hear: 'hˈɪə',
  i: 'I',
  need: 'nˈiːd',
  start: 'stˈɑːt',
  to: 'tuː',
  used: { DEFAULT: 'jˈuːzd', VBD: 'jˈuːst' },
  wait: 'wˈAt',
  walk: 'wˈɔːk',
  where: 'wˌɛː',
};
const symbols = new Set([...'AIQWYabdfhijklmnpstuvwzðŋɐɑɒɔəɛɜɡɪɹʃʊʌʒʤʧˈˌːθᵊT .,?']);
const fallback = { phonemes: async (words: readonly string[]) => words.map(() => 'x') };
const g2p = createKokoroG2p({ lexicon: new Lexicon(GOLD, {}, 'british'), symbols, fallback });

describe('suffixes', () => {
  test('have the vowels of British English, and no flaps', () => {
    expect([withS('hˈɔːs', 'british'), withS('hˈɔɹs')]).toEqual(['hˈɔːsɪz', 'hˈɔɹsᵻz']);
    expect([withEd('nˈiːd', 'british'), withEd('wˈAt', 'british')]).toEqual(['nˈiːdɪd', 'wˈAtɪd']);
    expect([withIng('wˈAt', 'british'), withIng('hˈɪə', 'british')]).toEqual(['wˈAtɪŋ', undefined]);
  });
});

test.each([
  ['horses waited', 'hˈɔːsɪz wˈAtɪd'],
  ['Where am I to start?', 'wˌɛː ɐm ˌI tə stˈɑːt?'],
  ['Where to?', 'wˌɛː tuː?'],
])('%s', async (text, phonemes) => expect((await g2p.phonemize(text)).phonemes).toBe(phonemes));

test.each([
  ['fˈə^ʊtə^ʊ', 'fˈQtQ'],
  ['t^ʃˈe^ə', 'ʧˈɛː'],
  ['lˈɪtə^l', 'lˈɪtᵊl'],
  ['bˈʌʔn\u0329', 'bˈʌʔn'],
])('%s of eSpeak is %s', (ipa, phonemes) => expect(britishSymbols(ipa)).toBe(phonemes));
