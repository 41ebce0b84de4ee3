/** eSpeak as the fallback of the dictionary, for words that it does not have. */

import type { Espeak } from '../../espeak.ts';
import type { Fallback } from './fallback.ts';

/** Maximum number of cached words. */
const CACHE_WORDS = 4096;
/** Longer "words" are noise; they are truncated, not rejected. */
const MAX_WORD_LETTERS = 60;
/** The English voice reads letters of other scripts as the name of the script. */
const UNREADABLE = /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Common}\p{Script=Inherited}]/u;

/** Uses eSpeak as the fallback of the dictionary. Returns Kokoro's symbols and caches them. */
export function espeakFallback(espeak: Espeak): Fallback {
  const cache = new Map<string, string>();
  return {
    async phonemes(words) {
      const missing = [...new Set(words)].filter((word) => !cache.has(word));
      const spoken = await speakWords(espeak, missing);
      const found = new Map(missing.map((word, i): [string, string] => [word, spoken[i] ?? '']));
      const result = words.map((word) => found.get(word) ?? recall(cache, word));
      for (const [word, phonemes] of found) remember(cache, word, phonemes);
      return result;
    },
  };
}

/**
 * One call for all words, because a call costs far more than a word. Falls back to one call per word if the
 * lines do not match.
 */
async function speakWords(espeak: Espeak, words: readonly string[]): Promise<string[]> {
  const readable = words.map((word) => (UNREADABLE.test(word) ? '' : word.slice(0, MAX_WORD_LETTERS)));
  const asked = readable.filter((word) => word !== '');
  if (asked.length === 0) return readable.map(() => '');
  let lines = await espeak(asked.join('.\n'));
  if (lines.length !== asked.length) {
    lines = [];
    const apart: string[] = [];
    for (const word of asked) apart.push((await espeak(word)).join(' '));
    lines = apart;
  }
  let next = 0;
  return readable.map((word) => (word === '' ? '' : kokoroSymbols(lines[next++] ?? '')));
}

/** Evicts the least recently used word if the cache is full. */
function remember(cache: Map<string, string>, word: string, phonemes: string): void {
  cache.set(word, phonemes);
  if (cache.size <= CACHE_WORDS) return;
  const oldest = cache.keys().next();
  if (oldest.done !== true) cache.delete(oldest.value);
}

function recall(cache: Map<string, string>, word: string): string {
  const phonemes = cache.get(word) ?? '';
  cache.delete(word);
  cache.set(word, phonemes);
  return phonemes;
}

/** eSpeak's American IPA → the symbols that Kokoro was trained with; longer sequences first. */
const SYMBOLS: readonly (readonly [string, string])[] = [
  ['aɪ', 'I'],
  ['aʊ', 'W'],
  ['dʒ', 'ʤ'],
  ['eɪ', 'A'],
  ['tʃ', 'ʧ'],
  ['ɔɪ', 'Y'],
  ['oʊ', 'O'],
  ['ʲo', 'jo'],
  ['ʲə', 'jə'],
  ['ʲ', ''],
  ['ɚ', 'əɹ'],
  ['ɜːɹ', 'ɜɹ'],
  ['ɜː', 'ɜɹ'],
  ['ɪə', 'iə'],
  ['e', 'A'],
  ['r', 'ɹ'],
  ['x', 'k'],
  ['ç', 'k'],
  ['ɐ', 'ə'],
  ['ɬ', 'l'],
  ['ː', ''],
  ['o', 'ɔ'],
  ['n\u0329', 'ᵊn'],
  ['l\u0329', 'ᵊl'],
  ['\u0329', ''],
  ['\u0303', ''],
];

/** "kˌuːbɚnˈɛɾiːz" → "kˌubəɹnˈɛɾiz". Language switch marks such as "(en)" are dropped. */
export function kokoroSymbols(ipa: string): string {
  let phonemes = ipa.replace(/\([a-z-]{2,8}\)/g, '');
  // A syllabic l closes its syllable: "little", not "hello".
  phonemes = phonemes.replace(/əl(?![ˈˌaeiouæɐɑɒɔəɚɛɜɪʊʌᵻ])/gu, 'ᵊl');
  for (const [from, to] of SYMBOLS) phonemes = phonemes.replaceAll(from, to);
  return phonemes.trim();
}
