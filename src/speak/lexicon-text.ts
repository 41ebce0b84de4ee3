/** A text as an engine reads it with a pronunciation lexicon, and its words in terms of the text as written. */

import type { GivenSounds, SpokenWord } from '../contract/engines/engine.ts';
import { includesLanguage, type LexiconMatch, type LexiconMatcher } from './lexicon-matcher.ts';

/** A part of the written text that is replaced. Positions count UTF-16 units. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  /** In the text for the engine. */
  readonly spokenStart: number;
  readonly spokenEnd: number;
}

export interface LexiconText {
  /** For the engine. */
  readonly text: string;
  /** In `text`. */
  readonly givenSounds: readonly GivenSounds[];
  /** In order. */
  readonly replacements: readonly Replacement[];
}

/** The language of a text. */
export interface TextLanguage {
  /** BCP 47 tag of the language in which the text is read; undefined if it is unknown. */
  readonly spoken: string | undefined;
  /** The tag that the engine has for a language. */
  find(tag: string): string | undefined;
}

/**
 * Applies a lexicon: words get the sounds or the respelling of their entries.
 * @param given sounds that the text has already, in order; they take precedence.
 * @param language is called at most once, and only if the text has a word whose reading depends on the language. Entries with a
 *   language do not apply to texts whose language is unknown.
 * @returns undefined if the lexicon has no word of the text.
 */
export function readWithLexicon(
  text: string,
  given: readonly GivenSounds[],
  lexicon: LexiconMatcher,
  language: () => TextLanguage,
): LexiconText | undefined {
  let known: TextLanguage | undefined;
  const languageOfText = () => {
    known ??= language();
    return known;
  };
  const applicable = new Map<string, boolean>();
  const appliesTo = (tag: string): boolean => {
    const { spoken, find } = languageOfText();
    const applies =
      applicable.get(tag) ??
      (spoken !== undefined && (includesLanguage(tag, spoken) || find(tag) === spoken));
    applicable.set(tag, applies);
    return applies;
  };
  const matches = lexicon.find(text, appliesTo);
  if (matches.length === 0) return undefined;
  const isEnglish = () => languageOfText().spoken?.toLowerCase().startsWith('en') ?? false;
  const edits = merged(given, matches);
  let spoken = '';
  let at = 0;
  const givenSounds: GivenSounds[] = [];
  const replacements: Replacement[] = [];
  for (const edit of edits) {
    spoken += text.slice(at, edit.start);
    const start = spoken.length;
    const reading = readingOf(edit, isEnglish);
    spoken += reading.respelling ?? text.slice(edit.start, reading.end);
    at = reading.end;
    if (reading.respelling !== undefined) {
      replacements.push({ start: edit.start, end: at, spokenStart: start, spokenEnd: spoken.length });
    } else if (reading.ipa !== undefined) givenSounds.push({ start, end: spoken.length, ipa: reading.ipa });
  }
  return { text: spoken + text.slice(at), givenSounds, replacements };
}

/** The sounds that lie in a part of a text, with their positions in that part. */
export function soundsWithin(sounds: readonly GivenSounds[], from: number, to: number): GivenSounds[] {
  return sounds
    .filter(({ start, end }) => start >= from && end <= to)
    .map(({ start, end, ipa }) => ({ start: start - from, end: end - from, ipa }));
}

/** Reports the words of a text for an engine as words of the written text. A replaced part is in one word. */
export class WrittenWords {
  readonly #text: string;
  readonly #replacements: readonly Replacement[];
  readonly #report: (words: readonly SpokenWord[]) => void;
  /** Index of the first replacement that ends after the words so far. */
  #replacement = 0;
  #spokenAt = 0;
  #writtenAt = 0;
  /** Start of the word whose end is inside of a replaced part. */
  #startMs: number | undefined;
  #endMs: number | undefined;

  constructor(
    text: string,
    replacements: readonly Replacement[],
    report: (words: readonly SpokenWord[]) => void,
  ) {
    this.#text = text;
    this.#replacements = replacements;
    this.#report = report;
  }

  /**
   * @param words of the text for the engine, in order.
   * @param offsetMs is added to their times.
   */
  add(words: readonly SpokenWord[], offsetMs: number): void {
    const written: SpokenWord[] = [];
    for (const { text, startMs, endMs } of words) {
      this.#spokenAt += text.length;
      this.#startMs ??= startMs + offsetMs;
      this.#endMs = endMs + offsetMs;
      const position = this.#writtenPosition();
      if (position === undefined) continue;
      written.push({
        text: this.#text.slice(this.#writtenAt, position),
        startMs: this.#startMs,
        endMs: this.#endMs,
      });
      this.#writtenAt = position;
      this.#startMs = undefined;
    }
    if (written.length > 0) this.#report(written);
  }

  /** The words before a position of the text for the engine have no sound. */
  skipTo(spokenAt: number): void {
    this.#spokenAt = Math.max(this.#spokenAt, spokenAt);
  }

  /** The rest of the text has no sound. */
  end(): void {
    const endMs = this.#endMs;
    if (endMs === undefined || this.#writtenAt === this.#text.length) return;
    this.#report([{ text: this.#text.slice(this.#writtenAt), startMs: this.#startMs ?? endMs, endMs }]);
  }

  /** Undefined inside of a replaced part. */
  #writtenPosition(): number | undefined {
    while (this.#spokenAt >= (this.#replacements[this.#replacement]?.spokenEnd ?? Infinity)) {
      this.#replacement += 1;
    }
    const current = this.#replacements[this.#replacement];
    if (current !== undefined && this.#spokenAt > current.spokenStart) return undefined;
    const passed = this.#replacements[this.#replacement - 1];
    return this.#spokenAt + (passed === undefined ? 0 : passed.end - passed.spokenEnd);
  }
}

type Edit = LexiconMatch | GivenSounds;

/** The matches that do not overlap given sounds, and the given sounds, in order. */
function merged(given: readonly GivenSounds[], matches: readonly LexiconMatch[]): Edit[] {
  const edits: Edit[] = [];
  let next = 0;
  const addGivenUntil = (end: number) => {
    for (; (given[next]?.start ?? Infinity) < end; next++) edits.push(given[next] as GivenSounds);
  };
  for (const match of matches) {
    addGivenUntil(match.end);
    if ((edits.at(-1)?.end ?? 0) <= match.start) edits.push(match);
  }
  addGivenUntil(Infinity);
  return edits;
}

/** How a part of the text is read, and where it ends. */
function readingOf(edit: Edit, isEnglish: () => boolean) {
  if ('ipa' in edit) return { end: edit.end, ipa: edit.ipa };
  const { end, possessiveEnd, entry } = edit;
  const { phonemes, respelling } = entry;
  if (respelling !== undefined) return { end, respelling };
  if (phonemes === undefined || possessiveEnd === end || !isEnglish()) return { end, ipa: phonemes };
  return { end: possessiveEnd, ipa: phonemes + possessiveSound(phonemes) };
}

/** The sound of the English ending `'s` after other sounds. */
function possessiveSound(phonemes: string): string {
  if (/[szʃʒʂʐ]$/u.test(phonemes)) return 'ɪz';
  return /[ptkfθ]$/u.test(phonemes) ? 's' : 'z';
}
