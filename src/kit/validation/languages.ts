/** Names of languages, as OpenAI's transcripts spell them: in English and lower case. */

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
/** What some recognisers call a language otherwise than the standard does. */
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

/** `english` for `en`; undefined for a code that no language has. */
export function languageName(code: string): string | undefined {
  return /^[a-z]{2,3}$/.test(code) ? NAMES.of(code)?.toLowerCase() : undefined;
}

/** `en` for `english`, `English` and `en`; undefined for what is neither a name nor a code. */
export function languageCode(name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (languageName(wanted) !== undefined) return wanted;
  codes ??= codesByName();
  return codes.get(wanted);
}

let codes: ReadonlyMap<string, string> | undefined;

/** All of ISO 639-1, by asking for each pair of letters once. */
function codesByName(): ReadonlyMap<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const byName = new Map<string, string>(ALIASES);
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = languageName(code);
    // Old codes have the name of the new one (`iw`, `he`); the new one counts.
    if (name !== undefined && Intl.getCanonicalLocales(code)[0] === code) byName.set(name, code);
  }
  return byName;
}
