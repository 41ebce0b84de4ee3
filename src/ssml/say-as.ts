/**
 * `say-as`: rewrites a text to a form that the normalization of every language reads as asked for (W3C SSML 1.0 say-as attribute
 * values, and the values that other speech services have).
 */

/** Values of `interpret-as` that need no rewriting, because the normalization recognizes the form. */
const AS_WRITTEN = new Set(['address', 'currency', 'fraction', 'name', 'time', 'unit', 'text']);
const SPELLED = new Set(['characters', 'character', 'letters', 'spell-out', 'verbatim']);
const VALUES = [...AS_WRITTEN, ...SPELLED, 'digits', 'cardinal', 'number', 'ordinal', 'telephone', 'date'];
/** Order of day (d), month (m) and year (y) in a date. */
const DATE_FORMATS = new Set(['mdy', 'dmy', 'ymd', 'md', 'dm', 'ym', 'my', 'd', 'm', 'y']);

/**
 * Rewrites a text.
 * @param interpretAs value of `interpret-as`.
 * @param format value of `format`; only dates have one.
 * @param language tag of the language of the text; undefined is read as English.
 * @returns undefined for an unknown value of `interpretAs` or `format`.
 */
export function sayAs(
  text: string,
  interpretAs: string,
  format: string | undefined,
  language: string | undefined,
): string | undefined {
  const primary = language?.toLowerCase().split(/[-_]/)[0] ?? 'en';
  const trimmed = text.trim();
  if (AS_WRITTEN.has(interpretAs)) return text;
  if (SPELLED.has(interpretAs)) return spelled(trimmed);
  switch (interpretAs) {
    case 'digits':
      return trimmed.replace(/[0-9](?=[0-9])/g, '$& ');
    case 'cardinal':
    case 'number':
      return primary === 'en' ? grouped(trimmed) : trimmed;
    case 'ordinal':
      return ordinal(trimmed, primary);
    case 'telephone':
      return telephone(trimmed);
    case 'date':
      return date(trimmed, format ?? '');
    default:
      return undefined;
  }
}

/** Values of `interpret-as`, for error messages. */
export const SAY_AS_VALUES: readonly string[] = VALUES;

/** "SQL-3" → "S, Q, L, 3": the commas keep the letters apart. Signs are dropped, because they have names in some languages only. */
function spelled(text: string): string {
  const letters = text.toUpperCase().match(/[\p{L}\p{N}]\p{M}*/gu) ?? [];
  return letters.join(', ');
}

/** "1999" → "1,999": in English, a number with separators is not a year. */
function grouped(text: string): string {
  return text.replace(/^[-+]?[0-9]{4,}$/, (digits) => digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ','));
}

/** Ending of an ordinal number by language; the others have none that their normalization reads. */
const ORDINAL_ENDINGS: Readonly<Record<string, string>> = { es: 'º', it: 'º', pt: 'º', fr: 'e', de: '.' };

/** "5" → "5th". */
function ordinal(text: string, language: string): string {
  if (!/^[0-9]+$/.test(text)) return text;
  if (language !== 'en') return `${text}${ORDINAL_ENDINGS[language] ?? ''}`;
  const endings: Readonly<Record<string, string>> = /1[0-9]$/.test(text) ? {} : { 1: 'st', 2: 'nd', 3: 'rd' };
  return `${text}${endings[text.at(-1) ?? ''] ?? 'th'}`;
}

/** Digits one by one, with a pause between the groups. */
function telephone(text: string): string {
  const groups = text.match(/\+?[0-9]+/g) ?? [];
  return groups.length === 0 ? text : groups.map((group) => [...group].join(' ')).join(', ');
}

/** "3.4.2025" with `dmy` → "2025-04-03". A text that is not a date of this format is unchanged. */
function date(text: string, format: string): string | undefined {
  if (format === '') return text;
  if (!DATE_FORMATS.has(format)) return undefined;
  const numbers = text.match(/[0-9]+/g) ?? [];
  if (numbers.length !== format.length || format.length !== 3) return text;
  const part = (letter: string) => (numbers[format.indexOf(letter)] ?? '').padStart(2, '0');
  const year = part('y');
  return `${year.length === 2 ? `20${year}` : year}-${part('m')}-${part('d')}`;
}
