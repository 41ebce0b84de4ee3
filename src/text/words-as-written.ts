/** The words of languages without rules of their own: a phonemizer reads their numbers. */

import type { SpokenFormWord } from './language.ts';

const ORDINAL = /^\P{L}{0,3}[0-9]{1,3}\.$/u;
const CAPITALIZED = /^\p{Lu}\p{M}*(?=[\p{Ll}.]|$)/u;

/**
 * The words as written, except that a word after an ordinal number starts with a small letter: eSpeak takes the dot of "3. Mai" for
 * the end of a sentence, and the one of "3. mai" for that of an ordinal number.
 * @param text one sentence: a dot after a number inside of it does not end it.
 * @param language BCP 47 tag. Its months follow a number at the start of the text, too, where a number in a list has a dot as well.
 */
export function wordsAsWritten(text: string, language: string): SpokenFormWord[] {
  const words = Array.from(text.matchAll(/\S+/gu), ({ 0: word, index }) => ({ text: word, source: index }));
  return words.map((word, i) => {
    const before = words[i - 1];
    if (before === undefined || !ORDINAL.test(before.text) || !CAPITALIZED.test(word.text)) return word;
    if (i === 1 && !isMonth(word.text, language)) return word;
    return { ...word, text: word.text.replace(CAPITALIZED, (letter) => letter.toLowerCase()) };
  });
}

const monthsByLanguage = new Map<string, ReadonlySet<string>>();

function isMonth(word: string, language: string): boolean {
  const name = word.toLowerCase().replace(/[^\p{L}\p{M}]+$/u, '');
  return monthsOf(language).has(name);
}

function monthsOf(language: string): ReadonlySet<string> {
  const known = monthsByLanguage.get(language);
  if (known !== undefined) return known;
  const months = new Set(
    (['long', 'short'] as const).flatMap((month) => {
      const format = formatOf(language, month);
      return Array.from({ length: 12 }, (_, i) =>
        (format?.formatToParts(Date.UTC(2024, i, 15)) ?? [])
          .filter(({ type }) => type === 'month')
          .map(({ value }) => value.toLowerCase().replace(/\.$/, '')),
      ).flat();
    }),
  );
  monthsByLanguage.set(language, months);
  return months;
}

/** @returns undefined for a tag that is not well-formed. */
function formatOf(language: string, month: 'long' | 'short'): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat(language, { day: 'numeric', month, timeZone: 'UTC' });
  } catch {
    return undefined;
  }
}
