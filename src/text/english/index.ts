/** English: a dictionary with rules, and eSpeak for words that it does not have. */

import { loadEspeak } from '../espeak.ts';
import type { EspeakNg, G2p, G2pResources, TextFrontEnd } from '../language.ts';
import { espeakFallback } from './g2p/espeak-fallback.ts';
import { type Fallback, spellingFallback } from './g2p/fallback.ts';
import { createKokoroG2p } from './g2p/kokoro-g2p.ts';
import { type Lexicon, loadLexicon } from './g2p/lexicon.ts';
import { normalizedWords } from './normalize/normalize.ts';

const BRITISH_VOICE = 'en';

export const americanEnglish: TextFrontEnd = {
  language: 'en-US',
  name: 'English (United States)',
  aliases: ['en'],
  espeakVoice: 'en-us',
  kokoroVoice: 'af_heart',
  words: (text) => normalizedWords(text),
  openKokoroG2p: (resources) => openAmerican(resources),
};

export const britishEnglish: TextFrontEnd = {
  language: 'en-GB',
  name: 'English (United Kingdom)',
  aliases: ['en-au', 'en-ie', 'en-in', 'en-nz', 'en-za'],
  espeakVoice: BRITISH_VOICE,
  kokoroVoice: 'bf_emma',
  words: (text) => normalizedWords(text),
  async openKokoroG2p({ symbols, files, espeak }) {
    const paths = files('misaki-en-gb');
    const lexicon = await loadLexicon(paths['gb_gold.json'] ?? '', paths['gb_silver.json'] ?? '', 'british');
    return createKokoroG2p({ lexicon, symbols, fallback: britishFallback(espeak, lexicon) });
  },
};

/**
 * American English. If its eSpeak cannot be loaded, a warning is written to standard error and unknown words are spelled letter
 * by letter.
 */
export async function openAmerican(
  { symbols, files }: Pick<G2pResources, 'symbols' | 'files'>,
  load = loadEspeak,
): Promise<G2p> {
  const paths = files('misaki-en-us');
  const lexicon = await loadLexicon(paths['us_gold.json'] ?? '', paths['us_silver.json'] ?? '');
  return createKokoroG2p({ lexicon, symbols, fallback: await americanFallback(lexicon, load) });
}

async function americanFallback(lexicon: Lexicon, load: typeof loadEspeak): Promise<Fallback> {
  try {
    return espeakFallback(await load());
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    process.stderr.write(`eSpeak could not be loaded (${name}): words outside the dictionary are spelled.\n`);
    return spellingFallback(lexicon);
  }
}

/** eSpeak's British IPA → the symbols that Kokoro was trained with (misaki 0.9.4, EspeakFallback); longer sequences first. */
const BRITISH_SYMBOLS: readonly (readonly [string, string])[] = [
  ['ʔˌn\u0329', 'ʔn'],
  ['ʔn\u0329', 'ʔn'],
  ['a^ɪ', 'I'],
  ['a^ʊ', 'W'],
  ['d^ʒ', 'ʤ'],
  ['e^ə', 'ɛː'],
  ['e^ɪ', 'A'],
  ['t^ʃ', 'ʧ'],
  ['ɔ^ɪ', 'Y'],
  ['ə^l', 'ᵊl'],
  ['ə^ʊ', 'Q'],
  ['ʲo', 'jo'],
  ['ʲə', 'jə'],
  ['ʲ', ''],
  ['e', 'A'],
  ['ɚ', 'əɹ'],
  ['r', 'ɹ'],
  ['x', 'k'],
  ['ç', 'k'],
  ['ɐ', 'ə'],
  ['ɬ', 'l'],
  ['\u0303', ''],
  ['iə', 'ɪə'],
  ['o', 'ɔ'],
];

/** Longer "words" are noise; they are truncated, not rejected. */
const MAX_WORD_LETTERS = 60;

function britishFallback(espeak: EspeakNg, lexicon: Lexicon): Fallback {
  const spelling = spellingFallback(lexicon);
  return {
    async phonemes(words) {
      const readable = words.map((word) =>
        /^[\p{Script=Latin}'’-]+$/u.test(word) ? word.slice(0, MAX_WORD_LETTERS) : '',
      );
      try {
        return (await espeak(BRITISH_VOICE, readable)).map(britishSymbols);
      } catch {
        // A sentence must not fail for one unknown word.
        return await spelling.phonemes(readable);
      }
    },
  };
}

/** "fˈə^ʊtə^ʊ" → "fˈQtQ". */
export function britishSymbols(ipa: string): string {
  let phonemes = ipa;
  for (const [from, to] of BRITISH_SYMBOLS) phonemes = phonemes.replaceAll(from, to);
  return phonemes
    .replace(/(\S)\u0329/gu, 'ᵊ$1')
    .replaceAll('\u0329', '')
    .replaceAll('^', '')
    .trim();
}
