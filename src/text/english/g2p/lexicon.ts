/**
 * The pronunciation dictionary that Kokoro was trained with (misaki's American or British gold and silver lists), and
 * its rules: case, initialisms, suffixes, possessives, weak forms.
 */

import { readFile } from 'node:fs/promises';
import {
  type Accent,
  applyStress,
  PRIMARY_STRESS,
  SECONDARY_STRESS,
  withEd,
  withIng,
  withS,
} from './stress.ts';

/** Parts of speech that the dictionary distinguishes or that its rules use. */
export type Tag = 'NNP' | 'NOUN' | 'VERB' | 'VBD' | 'VBN' | 'VBP' | 'ADJ' | 'ADV' | 'DT';

/** Phonemes of a word, or by use: `DEFAULT`, a {@link Tag}, or `None` before a pause. */
export type Entry = string | { readonly [use: string]: string | null };
export type Dictionary = { readonly [word: string]: Entry };

/** Context that a pronunciation depends on. */
export interface WordContext {
  /** Most likely uses first; the first one that the entry has is used. */
  readonly tags: readonly Tag[];
  /** Whether the next sound is a vowel; undefined before a pause or the end. */
  readonly futureVowel: boolean | undefined;
  /** Whether the next word is "to". */
  readonly futureTo: boolean;
}

const NO_CONTEXT: WordContext = { tags: [], futureVowel: undefined, futureTo: false };
const DOUBLED_BEFORE_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;
/** American pronunciations of frequent names and words that are not in the word lists. */
const ADDITIONS: Dictionary = {
  iphone: 'ˈIfˌOn',
  ipad: 'ˈIpˌæd',
  ipod: 'ˈIpˌɑd',
  openai: 'ˌOpᵊnˌAˈI',
  wifi: 'wˈIfˌI',
  miz: 'mˌɪz',
  github: 'ɡˈɪthˌʌb',
  linux: 'lˈɪnəks',
  ubuntu: 'ʊbˈʊntˌu',
  json: 'ʤˈAsᵊn',
  yaml: 'jˈæmᵊl',
  faq: 'fˌAˌAkjˈu',
};

/** Function words before a pause, and the two uses of "used". */
const STRONG_FORMS = {
  american: { am: 'æm', to: 'tu', used: 'jˈuzd', usedTo: 'jˈust' },
  british: { am: 'am', to: 'tuː', used: 'jˈuːzd', usedTo: 'jˈuːst' },
} as const;

/** Reads the two dictionary files: about 0.1 s and 40 MB for the full lists. */
export async function loadLexicon(
  goldPath: string,
  silverPath: string,
  accent: Accent = 'american',
): Promise<Lexicon> {
  const [gold, silver] = await Promise.all([readFile(goldPath, 'utf8'), readFile(silverPath, 'utf8')]);
  return new Lexicon(JSON.parse(gold) as Dictionary, JSON.parse(silver) as Dictionary, accent);
}

export class Lexicon {
  readonly #gold: Dictionary;
  readonly #silver: Dictionary;
  readonly #accent: Accent;

  /**
   * @param gold verified pronunciations, which take precedence.
   * @param silver generated pronunciations.
   * @param accent of both lists. Default: American.
   */
  constructor(gold: Dictionary, silver: Dictionary, accent: Accent = 'american') {
    this.#gold = gold;
    this.#silver = silver;
    this.#accent = accent;
  }

  /** Whether the word is listed exactly as written, including capitals. */
  has(word: string): boolean {
    return this.#goldEntry(word) !== undefined || this.#silverEntry(word) !== undefined;
  }

  /**
   * Phonemes of one word of letters and apostrophes.
   * @returns undefined if neither the lists nor the rules match.
   */
  phonemes(word: string, context: WordContext = NO_CONTEXT): string | undefined {
    const upper = word === word.toUpperCase();
    const stress = word === word.toLowerCase() ? undefined : upper ? 2 : 0.5;
    return this.#weakForm(word, context) ?? this.#word(word, stress, context);
  }

  /** Spells letter by letter, with the stress on the last one: "FBI". */
  spelled(letters: string): string | undefined {
    let joined = '';
    for (const letter of letters) {
      if (!/\p{L}/u.test(letter)) continue;
      const name = this.#goldEntry(letter.toUpperCase());
      if (typeof name !== 'string') return undefined;
      joined += name;
    }
    const weak = applyStress(joined, 0);
    const last = weak.lastIndexOf(SECONDARY_STRESS);
    return last === -1 ? weak : weak.slice(0, last) + PRIMARY_STRESS + weak.slice(last + 1);
  }

  /** Words whose pronunciation depends on the next sound. */
  #weakForm(word: string, { tags, futureVowel, futureTo }: WordContext): string | undefined {
    const forms = STRONG_FORMS[this.#accent];
    switch (word) {
      case 'a':
      case 'A':
        return tags.includes('DT') ? 'ɐ' : 'ˈA';
      case 'an':
      case 'An':
        return 'ɐn';
      case 'I':
        return 'ˌI';
      case 'am':
        return futureVowel === undefined ? forms.am : 'ɐm';
      case 'the':
      case 'The':
        return futureVowel === true ? 'ði' : 'ðə';
      case 'to':
      case 'To':
        return futureVowel === undefined ? forms.to : futureVowel ? 'tʊ' : 'tə';
      case 'in':
      case 'In':
        return futureVowel === undefined || tags.includes('ADV') ? 'ˈɪn' : 'ɪn';
      case 'by':
      case 'By':
        return tags.includes('ADV') ? 'bˈI' : undefined;
      case 'used':
      case 'Used':
        return futureTo && tags.includes('VBD') ? forms.usedTo : forms.used;
      default:
        return undefined;
    }
  }

  #word(written: string, stress: number | undefined, context: WordContext): string | undefined {
    const word = this.#readAsLowerCase(written, context) ? written.toLowerCase() : written;
    if (this.#isKnown(word)) return this.#lookUp(word, stress, context);
    if (word.endsWith("s'") && this.#isKnown(`${word.slice(0, -2)}'s`)) {
      return this.#lookUp(`${word.slice(0, -2)}'s`, stress, context);
    }
    if (word.length > 1 && word.endsWith("'")) return this.#word(word.slice(0, -1), stress, context);
    return this.#inflected(word, stress, context);
  }

  #inflected(word: string, stress: number | undefined, context: WordContext): string | undefined {
    return (
      this.#built(this.#stemOfS(word), withS, stress, context) ??
      this.#built(this.#stemOfEd(word), withEd, stress, context) ??
      this.#built(this.#stemOfIng(word), withIng, stress ?? 0.5, context)
    );
  }

  #built(
    stem: string | undefined,
    ending: (phonemes: string, accent: Accent) => string | undefined,
    stress: number | undefined,
    context: WordContext,
  ): string | undefined {
    const phonemes = stem === undefined ? undefined : this.#lookUp(stem, stress, context);
    return phonemes === undefined || phonemes === '' ? undefined : ending(phonemes, this.#accent);
  }

  #stemOfS(word: string): string | undefined {
    if (word.length < 3 || !word.endsWith('s')) return undefined;
    const candidates = [
      word.endsWith('ss') ? '' : word.slice(0, -1),
      word.endsWith("'s") || (word.length > 4 && word.endsWith('es') && !word.endsWith('ies'))
        ? word.slice(0, -2)
        : '',
      word.length > 4 && word.endsWith('ies') ? `${word.slice(0, -3)}y` : '',
    ];
    return candidates.find((stem) => stem !== '' && this.#isKnown(stem));
  }

  #stemOfEd(word: string): string | undefined {
    if (word.length < 4 || !word.endsWith('d')) return undefined;
    const candidates = [
      word.endsWith('dd') ? '' : word.slice(0, -1),
      word.length > 4 && word.endsWith('ed') && !word.endsWith('eed') ? word.slice(0, -2) : '',
      // A doubled consonant: "tagged" from "tag".
      word.length > 5 && /([bcdgklmnprstvxz])\1ed$/.test(word) ? word.slice(0, -3) : '',
    ];
    return candidates.find((stem) => stem !== '' && this.#isKnown(stem));
  }

  #stemOfIng(word: string): string | undefined {
    if (word.length < 5 || !word.endsWith('ing')) return undefined;
    const candidates = [
      word.length > 5 ? word.slice(0, -3) : '',
      `${word.slice(0, -3)}e`,
      word.length > 5 && DOUBLED_BEFORE_ING.test(word) ? word.slice(0, -4) : '',
    ];
    return candidates.find((stem) => stem !== '' && this.#isKnown(stem));
  }

  /** Whether a capitalized word is listed only in lower case. */
  #readAsLowerCase(word: string, context: WordContext): boolean {
    const lower = word.toLowerCase();
    if (word.length < 2 || word === lower || this.has(word)) return false;
    if (context.tags[0] === 'NNP' && word.length <= 7) return false;
    if (word !== word.toUpperCase() && word.slice(1) !== word.slice(1).toLowerCase()) return false;
    return this.has(lower) || this.#inflected(lower, undefined, context) !== undefined;
  }

  #isKnown(word: string): boolean {
    if (this.has(word)) return true;
    if (!/^[A-Za-z]+$/.test(word)) return false;
    return word.length === 1 || word.slice(1) === word.slice(1).toUpperCase();
  }

  #lookUp(written: string, stress: number | undefined, context: WordContext): string | undefined {
    const upper = written === written.toUpperCase() && this.#goldEntry(written) === undefined;
    const word = upper ? written.toLowerCase() : written;
    const initialism = upper && context.tags[0] === 'NNP';
    const entry = this.#goldEntry(word) ?? (initialism ? undefined : this.#silverEntry(word));
    const phonemes = entry === undefined ? null : useOf(entry, context);
    if (phonemes === null || (initialism && !phonemes.includes(PRIMARY_STRESS))) return this.spelled(word);
    return applyStress(phonemes, stress);
  }

  #goldEntry(word: string): Entry | undefined {
    const added = this.#accent === 'american' ? find(ADDITIONS, word.toLowerCase()) : undefined;
    return find(this.#gold, word) ?? added;
  }

  #silverEntry(word: string): Entry | undefined {
    return find(this.#silver, word);
  }
}

/** The lists have only one spelling of words that may start with a capital. */
function find(dictionary: Dictionary, word: string): Entry | undefined {
  if (Object.hasOwn(dictionary, word)) return dictionary[word];
  if (word.length < 2) return undefined;
  const lower = word.toLowerCase();
  const capitalised = `${lower.charAt(0).toUpperCase()}${lower.slice(1)}`;
  const other = word === lower ? capitalised : word === capitalised ? lower : '';
  return other !== '' && Object.hasOwn(dictionary, other) ? dictionary[other] : undefined;
}

/** @returns null if the word is spelled letter by letter in this use. */
function useOf(entry: Entry, { tags, futureVowel }: WordContext): string | null {
  if (typeof entry === 'string') return entry;
  if (futureVowel === undefined && typeof entry.None === 'string') return entry.None;
  for (const tag of tags) {
    const use = entry[tag] === undefined ? parentOf(tag) : tag;
    const phonemes = entry[use];
    // Only initialisms are spelled: "US" as a name, not "this OR that".
    if (phonemes === null && tag !== 'NNP') continue;
    if (phonemes !== undefined) return phonemes;
  }
  return entry.DEFAULT ?? null;
}

function parentOf(tag: Tag): Tag {
  if (tag === 'NNP') return 'NOUN';
  return tag === 'VBD' || tag === 'VBP' ? 'VERB' : tag;
}
