/**
 * Reader for dates in any capitalisation: "2024-03-15", "3/15/2024", "15.03.2024", "March 3rd, 2024", "15 march", "JAN. 5",
 * "Jan-15-2020", "340 AD", "2Q22"; ranges of days and months: "Mon-Fri".
 */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, ordinal, pairs, year } from './numbers.ts';
import { clockTime } from './times.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
/** Names and abbreviations in lower case. */
const MONTH_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...MONTHS.flatMap((month): [string, string][] => [
    [month.toLowerCase(), month],
    [month.slice(0, 3).toLowerCase(), month],
  ]),
  ['sept', 'September'],
]);
const DAY_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...DAYS.flatMap((day): [string, string][] => [
    [day.toLowerCase(), day],
    [day.slice(0, 3).toLowerCase(), day],
  ]),
  ['tues', 'Tuesday'],
  ['thur', 'Thursday'],
  ['thurs', 'Thursday'],
]);
/** In lower case also verbs and nouns: months only before a day, and not after a word that makes them verbs. */
const AMBIGUOUS_MONTHS = new Set(['may', 'march', 'mar']);
const BEFORE_VERBS = new Set(
  'i you he she it we they who which that this there to and not will would can could'.split(' '),
);
const ERAS: Readonly<Record<string, string>> = { AD: 'AD', BC: 'BC', CE: 'CE', BCE: 'BCE' };
const BEFORE_DATES = new Set('on by since until till from of the before after'.split(' '));
const QUARTERS = ['first', 'second', 'third', 'fourth'] as const;

/** Reads a numeric date or one with the name of a month. */
export function readDate(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const single =
    isoDate(core) ?? slashedDate(core) ?? hyphenedDate(core) ?? quarterOfYear(core) ?? nameRange(core);
  if (single !== undefined) return { spoken: [single] };
  return monthFirst(chunks, at) ?? dayFirst(chunks, at) ?? yearWithEra(chunks, at);
}

/** "Jan-15-2020", "15-Jan-2020", "Jan-15". */
function hyphenedDate(core: string): string | undefined {
  const parts = core.split('-');
  const [first = '', second = '', yearDigits = ''] = parts;
  if (parts.length < 2 || parts.length > 3) return undefined;
  if (parts.length === 3 && !/^(?:[0-9]{4}|[0-9]{2})$/.test(yearDigits)) return undefined;
  const month = MONTH_BY_NAME.get(first.toLowerCase()) ?? MONTH_BY_NAME.get(second.toLowerCase());
  const day = /^[0-9]/.test(first) ? first : second;
  if (month === undefined || !/^[0-9]{1,2}$/.test(day) || !isDay(day)) return undefined;
  const date = `${month} ${ordinal(String(Number(day)))}`;
  return yearDigits === '' ? date : `${date}, ${spokenYear(yearDigits)}`;
}

/** "2Q22" → "second quarter of twenty twenty-two". */
function quarterOfYear(core: string): string | undefined {
  const parts = /^([1-4])Q((?:20)?[0-9]{2})$/.exec(core);
  if (parts === null) return undefined;
  const digits = (parts[2] ?? '').padStart(4, '20');
  return `${QUARTERS[Number(parts[1]) - 1]} quarter of ${year(digits)}`;
}

/** "Mon-Fri" → "Monday to Friday", "Jan-Mar" → "January to March". */
function nameRange(core: string): string | undefined {
  const names = core.split(/[-–]/u);
  const [from = '', to = ''] = names;
  if (names.length !== 2 || !/^\p{Lu}/u.test(from)) return undefined;
  for (const table of [DAY_BY_NAME, MONTH_BY_NAME]) {
    const [start, end] = [table.get(from.toLowerCase()), table.get(to.toLowerCase())];
    if (start !== undefined && end !== undefined) return `${start} to ${end}`;
  }
  return undefined;
}

/** "340 A.D." → "three forty AD". */
function yearWithEra(chunks: readonly Chunk[], at: number): Reading | undefined {
  const next = coreAt(chunks, at + 1).replaceAll('.', '');
  const era = Object.hasOwn(ERAS, next) ? ERAS[next] : undefined;
  const digits = coreAt(chunks, at);
  if (era === undefined || !/^[1-9][0-9]{0,3}$/.test(digits) || !joined(chunks, at)) return undefined;
  return { spoken: [pairs(digits), era] };
}

/** @returns "March fifteenth, twenty twenty-four", or undefined if the date does not exist. */
function spokenDate(monthNumber: string, day: string, yearDigits: string): string | undefined {
  const month = MONTHS[Number(monthNumber) - 1];
  if (month === undefined || Number(day) < 1 || Number(day) > 31) return undefined;
  const date = `${month} ${ordinal(String(Number(day)))}`;
  return yearDigits === '' ? date : `${date}, ${spokenYear(yearDigits)}`;
}

function spokenYear(digits: string): string {
  if (digits.length === 2) return Number(digits) < 10 ? `oh ${cardinal(digits)}` : cardinal(digits);
  return year(digits);
}

/** "2024-03-15", also with a time: "2024-03-15T10:30:00Z". */
function isoDate(core: string): string | undefined {
  const parts = /^([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?:T([0-9]{1,2}:[0-9]{2})[0-9:.Z+-]*)?$/.exec(
    core,
  );
  if (parts === null) return undefined;
  const date = spokenDate(parts[2] ?? '', parts[3] ?? '', parts[1] ?? '');
  const time = parts[4] === undefined ? undefined : clockTime(parts[4]);
  return date === undefined || time === undefined ? date : `${date}, ${time}`;
}

/** "3/15/2024", month first; day first if the first number cannot be a month, and with dots. */
function slashedDate(core: string): string | undefined {
  const parts = /^([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})$/.exec(core);
  if (parts !== null) {
    const [, first = '', mark = '', second = '', yearDigits = ''] = parts;
    if (mark !== '/' && yearDigits.length !== 4) return undefined;
    const dayLeads = mark === '.' || Number(first) > 12;
    return spokenDate(dayLeads ? second : first, dayLeads ? first : second, yearDigits);
  }
  const short = /^([0-9]{1,2})\/(1[3-9]|2[1-9]|3[01])$/.exec(core);
  return short === null ? undefined : spokenDate(short[1] ?? '', short[2] ?? '', '');
}

/** "March 3rd, 2024", "Jan. 5", "March 2024", "March 3-5". */
function monthFirst(chunks: readonly Chunk[], at: number): Reading | undefined {
  const written = coreAt(chunks, at);
  const month = MONTH_BY_NAME.get(written.toLowerCase());
  if (month === undefined || !joined(chunks, at, '.')) return undefined;
  const next = coreAt(chunks, at + 1);
  const isAmbiguous = AMBIGUOUS_MONTHS.has(written);
  if (isAmbiguous && BEFORE_VERBS.has(coreAt(chunks, at - 1).toLowerCase())) return undefined;
  if (/^[0-9]{4}$/.test(next)) return isAmbiguous ? undefined : { spoken: [month, year(next)] };
  const day = daysOf(next);
  if (day === undefined) return undefined;
  const yearDigits = coreAt(chunks, at + 2);
  if (/^[0-9]{4}$/.test(yearDigits) && joined(chunks, at + 1, ',')) {
    return { spoken: [month, `${day},`, year(yearDigits)] };
  }
  return { spoken: [month, day] };
}

/** "15 March 2024" → "the fifteenth of March, twenty twenty-four". */
function dayFirst(chunks: readonly Chunk[], at: number): Reading | undefined {
  const day = daysOf(coreAt(chunks, at));
  const written = coreAt(chunks, at + 1);
  const month = MONTH_BY_NAME.get(written.toLowerCase());
  if (day === undefined || month === undefined || !joined(chunks, at)) return undefined;
  // "5 march on", "2 may leave": a date only with an ordinal, a preposition or a year.
  if (AMBIGUOUS_MONTHS.has(written) && !isSurelyDate(chunks, at)) return undefined;
  const article = coreAt(chunks, at - 1).toLowerCase() === 'the' ? '' : 'the ';
  const isShort = written.length < month.length;
  const dot = chunks[at + 1]?.after === '.' && isShort ? '.' : '';
  const yearDigits = coreAt(chunks, at + 2);
  if (
    /^[0-9]{4}$/.test(yearDigits) &&
    (joined(chunks, at + 1) || joined(chunks, at + 1, ',') || dot === '.')
  ) {
    return { spoken: [article + day, `of ${month},`, year(yearDigits)] };
  }
  return { spoken: [article + day, `of ${month}`] };
}

function isSurelyDate(chunks: readonly Chunk[], at: number): boolean {
  const isMarked = /(?:st|nd|rd|th)$/i.test(coreAt(chunks, at));
  const hasYear = /^[0-9]{4}$/.test(coreAt(chunks, at + 2));
  return isMarked || hasYear || BEFORE_DATES.has(coreAt(chunks, at - 1).toLowerCase());
}

/** "3", "3rd", "3-5" → ordinals; undefined if it is not a day of a month. */
function daysOf(core: string): string | undefined {
  const parts = /^([0-9]{1,2})(?:st|nd|rd|th)?(?:[-–]([0-9]{1,2})(?:st|nd|rd|th)?)?$/iu.exec(core);
  if (parts === null) return undefined;
  const [, first = '', last] = parts;
  if (!isDay(first) || (last !== undefined && !isDay(last))) return undefined;
  const from = ordinal(first);
  return last === undefined ? from : `${from} to ${ordinal(last)}`;
}

function isDay(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 31;
}
