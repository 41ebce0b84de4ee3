/** Converts text to Kokoro's phonemes: text normalization, dictionary, then fallback. */

import type { G2p, Pronunciation, SymbolSet } from '../../language.ts';
import { type NormalizedWord, normalizedWords } from '../normalize/normalize.ts';
import type { Fallback } from './fallback.ts';
import type { Lexicon, WordContext } from './lexicon.ts';
import { isShouting, tagsOf, type WordInText } from './part-of-speech.ts';
import { isConsonant, isVowel, joinCompound } from './stress.ts';

export interface KokoroG2pDeps {
  readonly lexicon: Lexicon;
  readonly symbols: SymbolSet;
  readonly fallback: Fallback;
}

/** A word, its punctuation, and its position in the source text. */
interface PunctuatedWord extends WordInText {
  readonly before: string;
  readonly after: string;
  readonly source: number;
}

/** Creates a converter. It is stateless except for the caches of its dependencies. */
export function createKokoroG2p({ lexicon, symbols, fallback }: KokoroG2pDeps): G2p {
  return {
    async phonemize(text) {
      const words = wordsOf(normalizedWords(text, { isWord: (word) => lexicon.has(word) }));
      const unknown = await speakUnknown(words, lexicon, fallback);
      return withinVocabulary(compose(words, lexicon, unknown), symbols);
    },
  };
}

/** Separates punctuation from words. */
function wordsOf(normalized: readonly NormalizedWord[]): PunctuatedWord[] {
  const words: PunctuatedWord[] = [];
  let pause = true;
  for (const { text, source } of normalized) {
    const [, before = '', core = '', after = ''] = /^([(“]*)([^(“”);:,.!?…—]*)(.*)$/u.exec(text) ?? [];
    const marks = core === '' ? before + after : after;
    const beforePause = /[;:,.!?…—]/u.test(marks);
    if (core === '' && words.length > 0) {
      const last = words[words.length - 1];
      if (last !== undefined)
        words[words.length - 1] = { ...last, after: `${last.after} ${marks}`, beforePause: true };
    } else if (core !== '') {
      words.push({ text: core, before, after, source, afterPause: pause, beforePause });
    }
    pause = beforePause;
  }
  const last = words[words.length - 1];
  if (last !== undefined) words[words.length - 1] = { ...last, beforePause: true };
  return words;
}

const ANY_CONTEXT: WordContext = { tags: [], futureVowel: undefined, futureTo: false };

/** One fallback call for all words and halves of compounds that are not in the dictionary. */
async function speakUnknown(
  words: readonly PunctuatedWord[],
  lexicon: Lexicon,
  fallback: Fallback,
): Promise<ReadonlyMap<string, string>> {
  const unknown = new Set<string>();
  for (const { text } of words) {
    if (lexicon.phonemes(text, ANY_CONTEXT) !== undefined) continue;
    for (const part of text.split('-')) {
      if (/\p{L}/u.test(part) && lexicon.phonemes(part, ANY_CONTEXT) === undefined) unknown.add(part);
    }
  }
  const list = [...unknown];
  const spoken = list.length === 0 ? [] : await fallback.phonemes(list);
  return new Map(list.map((word, i): [string, string] => [word, spoken[i] ?? '']));
}

/** The phonemes of a word, its punctuation, and its position in the source text. */
interface PhonemeWord {
  readonly before: string;
  readonly phonemes: string;
  readonly after: string;
  readonly source: number;
}

/** Composes the sentence backwards, because weak forms depend on the following sound. */
function compose(
  words: readonly PunctuatedWord[],
  lexicon: Lexicon,
  unknown: ReadonlyMap<string, string>,
): PhonemeWord[] {
  const shouting = isShouting(words);
  const composed: PhonemeWord[] = [];
  let futureVowel: boolean | undefined;
  // Punctuation of words without phonemes; it is attached to the previous word.
  let orphans = '';
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at];
    if (word === undefined) continue;
    if (word.beforePause) futureVowel = undefined;
    const futureTo = !word.beforePause && words[at + 1]?.text.toLowerCase() === 'to';
    const context: WordContext = { tags: tagsOf(words, at, shouting), futureVowel, futureTo };
    const phonemes = wordPhonemes(word.text, context, lexicon, unknown);
    if (phonemes === '') {
      orphans = word.after === '' ? orphans : word.after;
      continue;
    }
    const { before, after, source } = word;
    composed.push({ before, phonemes, after: after === '' ? orphans : after, source });
    orphans = '';
    futureVowel = startsWithVowel(phonemes) ?? futureVowel;
  }
  return composed.reverse();
}

function wordPhonemes(
  text: string,
  context: WordContext,
  lexicon: Lexicon,
  unknown: ReadonlyMap<string, string>,
): string {
  const whole = lexicon.phonemes(text, context) ?? unknown.get(text);
  if (whole !== undefined) return whole;
  const halves = text.split('-').filter((half) => half !== '');
  const parts: { letters: string; phonemes: string }[] = [];
  let { futureVowel } = context;
  for (const letters of halves.reverse()) {
    const phonemes = lexicon.phonemes(letters, { ...context, futureVowel }) ?? unknown.get(letters) ?? '';
    futureVowel = startsWithVowel(phonemes) ?? futureVowel;
    parts.push({ letters, phonemes });
  }
  return joinCompound(parts.reverse());
}

/** Whether the first sound is a vowel; undefined if there is no sound. */
function startsWithVowel(phonemes: string): boolean | undefined {
  for (const sound of phonemes) {
    if (isVowel(sound)) return true;
    if (isConsonant(sound)) return false;
  }
  return undefined;
}

/** Joins the words. Drops unsupported symbols, and replaces flaps and glottal stops by the symbols of this model. */
function withinVocabulary(words: readonly PhonemeWord[], supported: SymbolSet): Pronunciation {
  const symbols: string[] = [];
  const sources: (number | undefined)[] = [];
  const add = (added: string, source: number | undefined) => {
    for (const symbol of added.replaceAll('ɾ', 'T').replaceAll('ʔ', 't')) {
      // Single spaces, and none at the start.
      if (!supported.has(symbol) || (symbol === ' ' && (symbols.at(-1) ?? ' ') === ' ')) continue;
      symbols.push(symbol);
      sources.push(source);
    }
  };
  for (const { before, phonemes, after, source } of words) {
    add(' ', undefined);
    add(before, undefined);
    add(phonemes, source);
    add(after, undefined);
  }
  const end = symbols.length - (symbols.at(-1) === ' ' ? 1 : 0);
  const phonemes = symbols.slice(0, end).join('');
  return /\p{L}/u.test(phonemes)
    ? { phonemes, sources: sources.slice(0, end) }
    : { phonemes: '', sources: [] };
}
