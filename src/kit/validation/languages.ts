/** Language names in the form of OpenAI transcripts: English, lower case. */

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
/** Names used by some transcription models that differ from the standard. */
const ALIASES: readonly (readonly [name: string, code: string])[] = [
  ['bengali', 'bn'],
  ['castilian', 'es'],
  ['flemish', 'nl'],
  ['haitian', 'ht'],
  ['letzeburgesch', 'lb'],
  ['mandarin', 'zh'],
  ['moldavian', 'ro'],
  ['myanmar', 'my'],
  ['nynorsk', 'nn'],
  ['panjabi', 'pa'],
  ['pushto', 'ps'],
  ['sinhalese', 'si'],
  ['valencian', 'ca'],
];

/** Returns the name of a language code, e.g. `english` for `en`; undefined for an unknown code. */
export function languageName(code: string): string | undefined {
  return /^[a-z]{2,3}$/.test(code) ? NAMES.of(code)?.toLowerCase() : undefined;
}

/**
 * Returns the code of a name or code, e.g. `en` for `english`, `English` and `en`; undefined for an unknown
 * name.
 */
export function languageCode(name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (languageName(wanted) !== undefined) return wanted;
  codes ??= codesByName();
  return codes.get(wanted);
}

let codes: ReadonlyMap<string, string> | undefined;

/** Builds the table of all ISO 639-1 codes by looking up each pair of letters. */
function codesByName(): ReadonlyMap<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const byName = new Map<string, string>(ALIASES);
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = languageName(code);
    // Deprecated codes have the name of the current one (`iw`, `he`); the current one is used.
    if (name !== undefined && Intl.getCanonicalLocales(code)[0] === code) byName.set(name, code);
  }
  return byName;
}
