/** Converts text to Kokoro's phonemes: text normalization, dictionary, then fallback. */

import { normalizeEnglish } from '../normalize/normalize.ts';
import type { Fallback } from './fallback.ts';
import type { Vocabulary } from './kokoro-tokens.ts';
import type { Lexicon, WordContext } from './lexicon.ts';
import { isShouting, tagsOf, type WordInText } from './part-of-speech.ts';
import { isConsonant, isVowel, joinCompound } from './stress.ts';

export interface KokoroG2p {
  /**
   * Returns the phonemes of a text in the model's vocabulary, with punctuation; an empty string if the text
   * has no speakable content. Does not throw. Linear in the length of the text.
   */
  phonemize(text: string): Promise<string>;
}

export interface KokoroG2pDeps {
  readonly lexicon: Lexicon;
  readonly vocabulary: Vocabulary;
  readonly fallback: Fallback;
}

/** A word with its punctuation; `parts` are the halves of a hyphenated word. */
interface SpokenWord extends WordInText {
  readonly before: string;
  readonly after: string;
}

/** Creates a converter. It is stateless except for the caches of its dependencies. */
export function createKokoroG2p({ lexicon, vocabulary, fallback }: KokoroG2pDeps): KokoroG2p {
  return {
    async phonemize(text) {
      const words = wordsOf(normalizeEnglish(text, { isWord: (word) => lexicon.has(word) }));
      const unknown = await speakUnknown(words, lexicon, fallback);
      return withinVocabulary(compose(words, lexicon, unknown), vocabulary);
    },
  };
}

/** Splits normalized text at white space and separates punctuation from words. */
function wordsOf(text: string): SpokenWord[] {
  const words: SpokenWord[] = [];
  let pause = true;
  for (const piece of text.split(' ')) {
    const [, before = '', core = '', after = ''] = /^([(“]*)([^(“”);:,.!?…—]*)(.*)$/u.exec(piece) ?? [];
    const marks = core === '' ? before + after : after;
    const beforePause = /[;:,.!?…—]/u.test(marks);
    if (core === '' && words.length > 0) {
      const last = words[words.length - 1];
      if (last !== undefined)
        words[words.length - 1] = { ...last, after: `${last.after} ${marks}`, beforePause: true };
    } else if (core !== '') {
      words.push({ text: core, before, after, afterPause: pause, beforePause });
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
  words: readonly SpokenWord[],
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

/** Composes the sentence backwards, because weak forms depend on the following sound. */
function compose(
  words: readonly SpokenWord[],
  lexicon: Lexicon,
  unknown: ReadonlyMap<string, string>,
): string {
  const shouting = isShouting(words);
  const pieces: string[] = [];
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
    pieces.push(word.before + phonemes + (word.after === '' ? orphans : word.after));
    orphans = '';
    futureVowel = startsWithVowel(phonemes) ?? futureVowel;
  }
  return pieces.reverse().join(' ');
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

/** Replaces flaps and glottal stops by the symbols of this model and drops unsupported symbols. */
function withinVocabulary(phonemes: string, vocabulary: Vocabulary): string {
  let kept = '';
  for (const symbol of phonemes.replaceAll('ɾ', 'T').replaceAll('ʔ', 't'))
    if (vocabulary.has(symbol)) kept += symbol;
  const trimmed = kept.replace(/ {2,}/g, ' ').trim();
  return /\p{L}/u.test(trimmed) ? trimmed : '';
}
