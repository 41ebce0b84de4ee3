/** Formats of strings, as patterns. Each allows a subset of its format. Other formats are annotations. */

import { type LengthLimits, lengthsOf, readPattern } from './pattern-syntax.ts';

const YEAR = '[0-9]{4}';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DATE = [
  `(${YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))`,
  `${LEAP_YEAR}-02-29)`,
].join('|');
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])';
const SECONDS = '[0-9]{1,4}S';
const MINUTES = `[0-9]{1,4}M(${SECONDS})?`;
const HOURS = `[0-9]{1,4}H(${MINUTES})?`;
const DAYS = '[0-9]{1,4}D';
const MONTHS = `[0-9]{1,4}M(${DAYS})?`;
const YEARS = `[0-9]{1,4}Y(${MONTHS})?`;
const OF_DAY = `T(${HOURS}|${MINUTES}|${SECONDS})`;
const BYTE = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]|[0-9])';
const IPV4 = `${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}`;
const WORD = '[0-9a-fA-F]{1,4}';
/** Addresses of which `::` replaces one or more words. */
const SHORTENED = [1, 2, 3, 4, 5, 6, 7].map((before) => {
  const after = before < 7 ? `(${WORD}(:${WORD}){0,${6 - before}})?` : '';
  return `${WORD}(:${WORD}){${before - 1}}::${after}`;
});
/** Sizes of the parts of long formats, so that one fits into a length limit of the schema. */
const SIZES = [20, 10, 5, 2];

/** At most 61 characters for the largest size. */
const label = (size: number) => `[A-Za-z0-9]{1,${size + 1}}(-[A-Za-z0-9]{1,${Math.ceil(size / 2) + 2}}){0,3}`;
const atom = (size: number) => `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]{1,${size + 10}}`;
const host = (size: number) => `(([A-Za-z0-9]{1,${size * 2}}[.-]){0,4}[A-Za-z]{2,${size}}|${IPV4})`;
const ENCODED = '%[0-9A-F]{2}';
const segments = (size: number) => `([A-Za-z0-9._~!$&'()*+,;=:@/-]|${ENCODED}){0,${size * 3}}`;
const query = (size: number) => `([A-Za-z0-9._~!$&'()*+,;=:@/?-]|${ENCODED}){0,${size * 3}}`;
const target = (size: number) => `(/${segments(size)})?(\\?${query(size)})?(#${query(size)})?`;
const email = (size: number) =>
  `^${atom(size)}(\\.${atom(size)})?@${label(size)}\\.(${label(size)}\\.)?[A-Za-z]{2,${size}}$`;
const hostname = (size: number) => `^${label(size)}(\\.${label(size)}){0,3}$`;
const uri = (size: number) =>
  `^([a-z][a-z0-9+-]{0,15}://${host(size)}(:[0-9]{1,4})?${target(size)}|file:///${segments(size)}|(urn:[a-z0-9]{2,16}|mailto):${segments(size)})$`;
const reference = (size: number) =>
  `^([a-z][a-z0-9+-]{0,15}://${host(size)}(:[0-9]{1,4})?${target(size)}|[./]{0,3}([A-Za-z0-9_-]${segments(size)})?(\\?${query(size)})?(#${query(size)})?)$`;

/** Patterns by format, from the one with the longest texts to the one with the shortest. */
export const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: [`^(${DATE})$`],
  time: [`^${TIME}$`],
  'date-time': [`^(${DATE})T${TIME}$`],
  duration: [`^P((${YEARS}|${MONTHS}|${DAYS})(${OF_DAY})?|${OF_DAY}|[0-9]{1,4}W)$`],
  email: SIZES.map(email),
  'idn-email': SIZES.map(email),
  hostname: SIZES.map(hostname),
  'idn-hostname': SIZES.map(hostname),
  ipv4: [`^${IPV4}$`],
  ipv6: [`^(${WORD}(:${WORD}){7}|::(${WORD}(:${WORD}){0,6})?|${SHORTENED.join('|')})$`],
  uuid: ['^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'],
  uri: SIZES.map(uri),
  iri: SIZES.map(uri),
  'uri-reference': SIZES.map(reference),
  'iri-reference': SIZES.map(reference),
  'uri-template': SIZES.map(uri),
  'json-pointer': ['^(/([^/~]|~[01])*)*$'],
  'relative-json-pointer': ['^(0|[1-9][0-9]{0,3})(#|(/([^/~]|~[01])*)*)$'],
  // Expressions without groups and repetitions.
  regex: ['^\\^?([A-Za-z0-9 _/@:,;=<>!%&~-]|\\\\[.dws])*\\$?$'],
};

const longest = new Map<string, number>();

/**
 * The pattern of a format.
 * @param limits limits of the length: the result is the pattern with the longest texts that fit, or the one with the shortest.
 * @returns undefined for other formats.
 */
export function formatPattern(format: string, limits?: LengthLimits): string | undefined {
  const patterns = FORMATS[format] ?? [];
  const fits = (pattern: string) => {
    const known = longest.get(pattern) ?? lengthsOf(readPattern(pattern)).max;
    longest.set(pattern, known);
    return known <= (limits?.max ?? Number.POSITIVE_INFINITY);
  };
  return patterns.find(fits) ?? patterns.at(-1);
}
