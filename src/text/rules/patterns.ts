/** Regular expressions of the rules of languages, from tables of words. */

/** A pattern that matches everywhere in a text, with Unicode properties. */
export function regExp(source: string, flags = 'gu'): RegExp {
  return new RegExp(source, flags);
}

/** The source of a pattern that matches a text literally. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

/** The source of a pattern that matches one of the texts: the longest first, so that "km²" is not "km". */
export function anyOf(texts: readonly string[]): string {
  return texts
    .toSorted((a, b) => b.length - a.length)
    .map(escaped)
    .join('|');
}
