/** Rules of the entries of pronunciation lexicons, in CONFIG and in the API. */

import type { ErrorCode } from '../../contract/core/error.ts';
import type { LexiconEntry } from '../../contract/stores/lexicon-store.ts';
import { codePoints } from './code-points.ts';
import { languageName } from './languages.ts';

/** Maximum number of entries of an organization, and of CONFIG. */
export const MAX_LEXICON_ENTRIES = 1000;
/** In Unicode code points. */
export const MAX_WORD_CHARACTERS = 100;
export const MAX_READING_CHARACTERS = 200;
/** A reading is limited by its word as well, because the limits and reservations of speech are based on the text as written. */
const READING_CHARACTERS = { minimum: 20, perCharacter: 10 };
/** RFC 5646, section 4.4.1. */
const MAX_TAG_CHARACTERS = 35;

/** An entry as written by a user. */
export interface WrittenEntry {
  readonly word?: string | undefined;
  readonly language?: string | undefined;
  readonly phonemes?: string | undefined;
  readonly respelling?: string | undefined;
}

/** What is wrong with a written entry: `'field' problem.` is a sentence. */
export interface EntryProblem {
  readonly field: keyof WrittenEntry;
  readonly problem: string;
  readonly code: ErrorCode;
}

export type CheckedEntry<Entry> =
  | { readonly entry: Entry; readonly problem?: undefined }
  | { readonly entry?: undefined; readonly problem: EntryProblem };

/** Letters, marks and signs of the IPA. Capital letters and digits occur only in other notations, such as ARPAbet. */
const IPA = /^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{Sk}\s.|‖‿↗↘↑↓'-]*$/u;
/** Slashes and brackets around a transcription are not part of it. */
const ENCLOSED = /^(?:\/(.*)\/|\[(.*)\])$/su;
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Checks and normalizes an entry. */
export function checkedEntry(written: WrittenEntry): CheckedEntry<LexiconEntry> {
  const { entry: key, problem } = checkedKey(written);
  if (problem !== undefined) return { problem };
  const [phonemes, respelling] = [spaced(written.phonemes), spaced(written.respelling)];
  if (phonemes !== undefined && respelling !== undefined) {
    const rule = "must not be set together with 'phonemes'";
    return { problem: { field: 'respelling', problem: rule, code: 'mutually_exclusive_parameters' } };
  }
  if (phonemes !== undefined) {
    const enclosed = ENCLOSED.exec(phonemes);
    const ipa = (enclosed?.[1] ?? enclosed?.[2] ?? phonemes).trim();
    return withReading({ ...key, phonemes: ipa, respelling }, 'phonemes', ipa);
  }
  if (respelling !== undefined) {
    return withReading({ ...key, phonemes, respelling }, 'respelling', respelling);
  }
  const rule = "is required, unless 'respelling' is set";
  return { problem: { field: 'phonemes', problem: rule, code: 'missing_required_parameter' } };
}

/** Checks and normalizes the parts that identify an entry. */
export function checkedKey(written: WrittenEntry): CheckedEntry<Pick<LexiconEntry, 'word' | 'language'>> {
  const word = spaced(written.word)?.normalize('NFC').replaceAll('’', "'");
  if (word === undefined) {
    return { problem: { field: 'word', problem: 'is required', code: 'missing_required_parameter' } };
  }
  const invalid = textProblem('word', word, MAX_WORD_CHARACTERS);
  if (invalid !== undefined) return { problem: invalid };
  if (written.language === undefined) return { entry: { word, language: undefined } };
  const language = canonicalTag(written.language);
  if (language !== undefined) return { entry: { word, language } };
  const rule = 'must be a BCP 47 tag, such as en or pt-BR, or unset for all languages';
  return { problem: { field: 'language', problem: rule, code: 'invalid_value' } };
}

/**
 * Whether a word is matched in its own case only: it has a capital letter after the first letter of one of its parts, as `SQL`,
 * `iPhone` and `McDonald`.
 */
export function keepsCase(word: string): boolean {
  return /[\p{L}\p{N}]\p{M}*\p{Lu}/u.test(word);
}

/** What the word of an entry is compared by: entries with the same key and language are the same entry. */
export function lexiconKey(word: string): string {
  return keepsCase(word) ? word : word.toLowerCase();
}

function withReading(
  entry: LexiconEntry,
  field: 'phonemes' | 'respelling',
  reading: string,
): CheckedEntry<LexiconEntry> {
  const { minimum, perCharacter } = READING_CHARACTERS;
  const ofWord = minimum + perCharacter * codePoints(entry.word);
  const problem = textProblem(field, reading, Math.min(MAX_READING_CHARACTERS, ofWord));
  if (problem !== undefined) return { problem };
  if (field === 'respelling' || IPA.test(reading)) return { entry };
  const rule =
    'must be in the International Phonetic Alphabet, such as wɪn, without capital letters and digits';
  return { problem: { field, problem: rule, code: 'invalid_value' } };
}

function textProblem(field: EntryProblem['field'], text: string, maximum: number): EntryProblem | undefined {
  const characters = codePoints(text);
  if (characters > maximum) {
    const problem = `can have at most ${maximum} characters${field === 'word' ? '' : ' for this word'}, not ${characters}`;
    return { field, problem, code: 'string_above_max_length' };
  }
  if (CONTROL.test(text) || !text.isWellFormed()) {
    return { field, problem: 'must not contain control characters', code: 'invalid_value' };
  }
  if (SPEAKABLE.test(text)) return undefined;
  return { field, problem: 'must contain a letter or a digit', code: 'invalid_value' };
}

/** White space is one space; undefined for text without content. */
function spaced(text: string | undefined): string | undefined {
  return text?.replace(/[\s\u0085]+/gu, ' ').trim() || undefined;
}

/** The canonical form of a BCP 47 tag in any case, also with `_`; undefined for other text and unknown languages. */
function canonicalTag(written: string): string | undefined {
  const tag = written.trim().replaceAll('_', '-');
  if (tag.length > MAX_TAG_CHARACTERS || !/^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i.test(tag)) return undefined;
  try {
    const [canonical = tag] = Intl.getCanonicalLocales(tag);
    return languageName(canonical.split('-', 1)[0] ?? '') === undefined ? undefined : canonical;
  } catch {
    return undefined;
  }
}
