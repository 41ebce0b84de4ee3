/** Reader for plain numbers: years, decades, ordinals, ranges, fractions, versions, codes, dimensions. */

import { precedesVersion } from '../../rules/versions.ts';
import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, decade, digitByDigit, fraction, ordinal, plural, writtenNumber, year } from './numbers.ts';

/** Minimum number of digits of a code: without commas it is read digit by digit. */
const CODE_DIGITS = 10;
const SCALES: ReadonlyMap<string, string> = new Map([
  ['mn', 'million'],
  ['bn', 'billion'],
  ['tn', 'trillion'],
]);
/** Slash pairs with a fixed reading. */
const FIXED_PAIRS: ReadonlyMap<string, string> = new Map([
  ['24/7', 'twenty-four seven'],
  ['9/11', 'nine eleven'],
  ['50/50', 'fifty-fifty'],
]);

/** Reads a core that consists of digits. */
export function readFigures(chunks: readonly Chunk[], at: number): Reading | undefined {
  const chunk = chunks[at];
  if (chunk === undefined || !/[0-9½⅓⅔¼¾⅕⅛⅜⅝⅞]/u.test(chunk.core)) return undefined;
  const mixed = mixedFraction(chunks, at);
  if (mixed !== undefined) return mixed;
  if (isCode(chunks, at)) return { spoken: [digitByDigit(chunk.core)] };
  if (isCount(chunks, at)) return { spoken: [cardinal(chunk.core)] };
  const spoken =
    version(chunks, at) ?? aircraft(chunks, at) ?? figures(chunk.core, chunk.before.endsWith("'"));
  return spoken === undefined ? undefined : { spoken: [spoken] };
}

/** "Python 3.12" → "three point twelve". */
function version(chunks: readonly Chunk[], at: number): string | undefined {
  const core = coreAt(chunks, at);
  if (at === 0 || !joined(chunks, at - 1) || !precedesVersion(coreAt(chunks, at - 1))) return undefined;
  return /^[0-9]{1,4}(?:\.[0-9]{1,4})+$/.test(core) ? versionGroups(core.split('.'), ' point ') : undefined;
}

/** "Boeing 737" → "seven thirty-seven", "737-800" → "seven thirty-seven eight hundred", "A320" → "A three twenty". */
function aircraft(chunks: readonly Chunk[], at: number): string | undefined {
  const airbus = /^A([23])([1-9]0)(neo)?$/.exec(coreAt(chunks, at));
  if (airbus !== null) {
    const [, first = '', tens = '', suffix] = airbus;
    return `A ${cardinal(first)} ${cardinal(tens)}${suffix === undefined ? '' : ` ${suffix}`}`;
  }
  const parts = /^([1-9])([0-9]{2})(?:-([1-9]00))?$/.exec(coreAt(chunks, at));
  const [, hundreds = '', rest = '', series] = parts ?? [];
  const isNamed = at > 0 && joined(chunks, at - 1) && /^boeing$/i.test(coreAt(chunks, at - 1));
  const isMax =
    /^7[0-9]7$/.test(coreAt(chunks, at)) && joined(chunks, at) && /^max$/i.test(coreAt(chunks, at + 1));
  if (parts === null || !(isNamed || isMax)) return undefined;
  const pair =
    rest === '00' ? 'hundred' : rest.startsWith('0') ? `oh ${cardinal(rest.slice(1))}` : cardinal(rest);
  return `${cardinal(hundreds)} ${pair}${series === undefined ? '' : ` ${cardinal(series)}`}`;
}

/** Words before a number that is read digit by digit, such as "PIN 8876" and "the card ending in 8876". */
const BEFORE_CODES = new Set('pin otp code passcode password extension ext ending'.split(' '));

/** Short telephone numbers that are read digit by digit after "call" and "dial". */
const EMERGENCY = /^(?:[2-9]11|112|999)$/;

function isCode(chunks: readonly Chunk[], at: number): boolean {
  if (!/^[0-9]{3,9}$/.test(coreAt(chunks, at)) || at === 0 || !joined(chunks, at - 1, ':')) return false;
  const previous = coreAt(chunks, at - 1).toLowerCase();
  if (/^(?:call|dial)(?:s|ed|ing)?$/.test(previous)) return EMERGENCY.test(coreAt(chunks, at));
  const isLinked = /^(?:is|in|with)$/.test(previous) && joined(chunks, at - 2);
  return BEFORE_CODES.has(isLinked ? coreAt(chunks, at - 2).toLowerCase() : previous);
}

/** Words before a year, also if a plural follows: "in 2020 sales rose", "the 2024 elections". */
const BEFORE_YEARS = new Set(
  (
    'in since the of by from until till during before after and between to circa early late mid around about ' +
    'this that these those year years fy class model summer winter spring fall autumn'
  ).split(' '),
);
/** Words that end in s and are not plural nouns. */
const NOT_PLURALS = new Set(
  (
    'was is has does as this us its his hers ours yours theirs thus yes versus unless perhaps always sometimes ' +
    'across towards besides minus plus'
  ).split(' '),
);

/** "1035 cans" is a count, "in 2020 sales rose" has a year. Multiples of a hundred are read alike. */
function isCount(chunks: readonly Chunk[], at: number): boolean {
  const core = coreAt(chunks, at);
  if (!/^(?:1[0-9]|20)[0-9]{2}$/.test(core) || core.endsWith('00') || !joined(chunks, at)) return false;
  const next = coreAt(chunks, at + 1);
  if (!/^\p{Ll}{2,}s$/u.test(next) || NOT_PLURALS.has(next)) return false;
  const previous = coreAt(chunks, at - 1).toLowerCase();
  if (BEFORE_YEARS.has(previous) || /^\p{Lu}/u.test(coreAt(chunks, at - 1))) return false;
  // At the start of a sentence, "2020 elections" are more likely than 2020 of them.
  return core < '1900' || previous !== '';
}

/** "1 1/2" → "one and a half" in two chunks. */
function mixedFraction(chunks: readonly Chunk[], at: number): Reading | undefined {
  const whole = coreAt(chunks, at);
  if (!/^[0-9]{1,4}$/.test(whole) || !joined(chunks, at)) return undefined;
  const parts = /^([0-9]{1,2})\/([0-9]{1,2})$/.exec(coreAt(chunks, at + 1));
  const spoken = parts === null ? undefined : fraction(parts[1] ?? '', parts[2] ?? '');
  if (spoken === undefined) return undefined;
  const joinedHalf = spoken.replace(/^one (half|quarter)$/, 'a $1');
  return { spoken: [cardinal(whole), `and ${joinedHalf}`] };
}

/**
 * Reads one number: number, year, ordinal, decade, range, fraction, version or code.
 * @param clipped whether an apostrophe precedes it: "'90s", "'99".
 * @returns undefined if `core` is something else.
 */
export function figures(core: string, clipped = false): string | undefined {
  return (
    numberedHash(core) ??
    ordinalOrDecade(core) ??
    decadeRange(core) ??
    (clipped && /^[0-9]{2}$/.test(core) ? cardinal(core) : undefined) ??
    quantity(core) ??
    slashPair(core) ??
    dotted(core) ??
    scientific(core) ??
    abbreviatedScale(core) ??
    dimensions(core) ??
    digitGroups(core)
  );
}

/** "#5" → "number five". */
function numberedHash(core: string): string | undefined {
  const parts = /^#([0-9]{1,9})$/.exec(core);
  return parts === null ? undefined : `number ${cardinal(parts[1] ?? '')}`;
}

/** "21st", "1,000th", "1990s", "90s", "2020's". */
function ordinalOrDecade(core: string): string | undefined {
  const parts = /^([0-9][0-9,]{0,20})(st|nd|rd|th|'?s)$/i.exec(core);
  if (parts === null) return undefined;
  const digits = (parts[1] ?? '').replaceAll(',', '');
  const suffix = (parts[2] ?? '').toLowerCase();
  if (!suffix.endsWith('s')) return ordinal(digits);
  if (digits.endsWith('0') && (digits.length === 4 || digits.length === 2)) return decade(digits);
  return plural(bareNumber(digits) ?? cardinal(digits));
}

/** "1960s-80s" → "nineteen sixties to eighties". */
function decadeRange(core: string): string | undefined {
  const parts = /^((?:[0-9]{2})?[0-9]0)s[-–]((?:[0-9]{2})?[0-9]0)s$/u.exec(core);
  return parts === null ? undefined : `${decade(parts[1] ?? '')} to ${decade(parts[2] ?? '')}`;
}

/**
 * Reads a number or a range of two: "1,200", "-5", "3.5", "3-5" ("three to five"), "1939–1945".
 * @returns undefined if `core` is neither.
 */
export function quantity(core: string): string | undefined {
  const single = bareNumber(core);
  if (single !== undefined) return single;
  const dash = core.search(/[-–—]/u);
  if (dash <= 0) return undefined;
  const left = core.slice(0, dash);
  const right = core.slice(dash + 1);
  if (!/^[0-9]/.test(right) || /[-–—]/u.test(right)) return undefined;
  if (/^[0-9]{3}$/.test(left) && /^[0-9]{4}$/.test(right)) return undefined;
  const from = bareNumber(left);
  const to = bareNumber(right);
  if (from === undefined || to === undefined) return undefined;
  return from === to ? `${from}-${to}` : `${from} to ${to}`;
}

/** A number without a unit: four digits may be a year, ten or more are a code. */
function bareNumber(core: string): string | undefined {
  if (/^[0-9]+$/.test(core)) {
    if (core.length === 4 && core >= '1010' && core <= '2099') return year(core);
    if (core.length >= CODE_DIGITS) return digitByDigit(core);
  }
  return writtenNumber(core);
}

/** "3/4" → "three quarters", "24/7" → "twenty-four seven", "7/24" → "seven over twenty-four". */
function slashPair(core: string): string | undefined {
  const fixed = FIXED_PAIRS.get(core);
  if (fixed !== undefined) return fixed;
  // Also with the ending of an ordinal: "1/4th".
  const parts = /^([0-9]{1,6})\/([0-9]{1,6})(?:st|nd|rd|th)?$/i.exec(core);
  if (parts === null) return undefined;
  const [, top = '', bottom = ''] = parts;
  if (top === bottom) return `${cardinal(top)} out of ${cardinal(bottom)}`;
  return fraction(top, bottom) ?? `${cardinal(top)} over ${cardinal(bottom)}`;
}

/** "1.2.3" and "v2.0" → "version two point zero"; the four groups of an IP address are separated by "dot". */
function dotted(core: string): string | undefined {
  const named = /^v[0-9]/i.test(core);
  const groups = (named ? core.slice(1) : core).split('.');
  if ((groups.length < 3 && !named) || !groups.every((group) => /^[0-9]+$/.test(group))) return undefined;
  return (named ? 'version ' : '') + versionGroups(groups, groups.length === 4 ? ' dot ' : ' point ');
}

/** The numbers between the dots; those with more than two digits, or with a leading zero, are read digit by digit. */
function versionGroups(groups: readonly string[], separator: string): string {
  return groups
    .map((group) => (group.length > 2 || /^0[0-9]/.test(group) ? digitByDigit(group) : cardinal(group)))
    .join(separator);
}

/** "1.35bn" → "one point three five billion". Single letters are ambiguous. */
function abbreviatedScale(core: string): string | undefined {
  const parts = /^([0-9][0-9,.]*)(mn|bn|tn)$/.exec(core);
  const amount = parts === null ? undefined : writtenNumber(parts[1] ?? '');
  return amount === undefined ? undefined : `${amount} ${SCALES.get(parts?.[2] ?? '')}`;
}

/** "1.5e-5" → "one point five times ten to the power of minus five". */
function scientific(core: string): string | undefined {
  const parts = /^([0-9]{1,9}(?:\.[0-9]{1,9})?)(?:e|E(?=[-+−]))([-+−]?)([0-9]{1,3})$/u.exec(core);
  const factor = parts === null ? undefined : writtenNumber(parts[1] ?? '');
  if (parts === null || factor === undefined) return undefined;
  const sign = /[-−]/u.test(parts[2] ?? '') ? 'minus ' : '';
  return `${factor} times ten to the power of ${sign}${cardinal(parts[3] ?? '')}`;
}

/** "1920x1080" → "nineteen twenty by ten eighty", "10x" → "ten times", "3-4x" → "three to four times". */
function dimensions(core: string): string | undefined {
  const cross = core.search(/[x×]/iu);
  if (cross <= 0) return undefined;
  const rest = core.slice(cross + 1);
  if (rest === '') {
    const factor = quantity(core.slice(0, cross));
    return factor === undefined ? undefined : `${factor} times`;
  }
  const left = sideLength(core.slice(0, cross));
  if (left === undefined) return undefined;
  const right = /^[0-9]/.test(rest) ? (sideLength(rest) ?? dimensions(rest)) : undefined;
  return right === undefined ? undefined : `${left} by ${right}`;
}

/** Four digits are read in pairs: "1080" is "ten eighty". */
function sideLength(core: string): string | undefined {
  return /^[0-9]{4}$/.test(core) ? year(core) : bareNumber(core);
}

/** Groups of digits separated by hyphens or dots: account, part and telephone numbers. */
function digitGroups(core: string): string | undefined {
  const groups = core.split(/[-.–]/u);
  if (groups.length < 2 || !groups.every((group) => /^[0-9]+$/.test(group))) return undefined;
  return groups.map(digitByDigit).join(', ');
}
