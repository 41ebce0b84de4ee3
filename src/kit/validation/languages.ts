/** Languages of transcripts: ISO 639 codes, and names in the form of OpenAI transcripts (English, lower case). */

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
/** Names used by some transcription models that differ from the standard. */
const ALIASES: readonly (readonly [name: string, code: string])[] = [
  ['bengali', 'bn'],
  ['cantonese', 'yue'],
  ['castilian', 'es'],
  ['filipino', 'tl'],
  ['flemish', 'nl'],
  ['haitian', 'ht'],
  ['hawaiian', 'haw'],
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

/**
 * Codes that transcription models call by another one: the bibliographic codes of ISO 639-2, which `Intl` does not know, and
 * languages whose macrolanguage or standard form is in the models.
 */
const EQUIVALENTS: ReadonlyMap<string, string> = new Map([
  ['alb', 'sq'],
  ['arm', 'hy'],
  ['baq', 'eu'],
  ['bur', 'my'],
  ['chi', 'zh'],
  ['cmn', 'zh'],
  ['cze', 'cs'],
  ['dut', 'nl'],
  ['fil', 'tl'],
  ['fre', 'fr'],
  ['geo', 'ka'],
  ['ger', 'de'],
  ['gre', 'el'],
  ['ice', 'is'],
  ['jw', 'jv'],
  ['mac', 'mk'],
  ['mao', 'mi'],
  ['may', 'ms'],
  ['nb', 'no'],
  ['per', 'fa'],
  ['rum', 'ro'],
  ['slo', 'sk'],
  ['tib', 'bo'],
  ['wel', 'cy'],
]);
/** A BCP 47 tag, or a POSIX locale without its encoding: `pt-BR`, `pt_BR`, `zh-Hant-TW`. */
const TAG = /^[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*$/;

/**
 * Reduces a language as clients send it to the code that a transcription model knows: `EN`, `en-US`, `en_US.UTF-8`, `eng` and
 * `English` to `en`.
 * @param known codes of the model; undefined: every ISO 639-1 code.
 * @returns undefined if the model does not know the language.
 */
export function reducedLanguage(written: string, known: readonly string[] | undefined): string | undefined {
  const text = written.trim().toLowerCase();
  const tag = text.replace(/[.@].*$/, '');
  const named = languageCodes().get(text);
  const candidates = named === undefined ? (TAG.test(tag) ? codesOf(tag.split(/[-_]/)) : []) : [named];
  return candidates.find((code) => known?.includes(code) ?? languageName(code) !== undefined);
}

/** What {@link reducedLanguage} accepts, for the end of an error message: `must be …`. */
export function languageRule(known: readonly string[] | undefined): string {
  return known === undefined ? 'an ISO 639-1 code' : `one of ${known.join(', ')}`;
}

/** The codes by which a model may know the language of a tag, the most specific first. */
function codesOf([language = '', extended = '']: readonly string[]): readonly string[] {
  const equivalent = EQUIVALENTS.get(language);
  const [current = language] = Intl.getCanonicalLocales(language);
  return [
    // Chinese and Arabic have three-letter subtags for their languages: `zh-yue`.
    ...(/^[a-z]{3}$/.test(extended) ? [extended] : []),
    ...(equivalent === undefined ? [] : [equivalent]),
    current,
    language,
  ];
}

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
  return languageCodes().get(wanted);
}

let codes: ReadonlyMap<string, string> | undefined;

function languageCodes(): ReadonlyMap<string, string> {
  codes ??= codesByName();
  return codes;
}

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
