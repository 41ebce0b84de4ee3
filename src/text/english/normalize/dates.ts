/** Reader for dates: "2024-03-15", "3/15/2024", "15.03.2024", "March 3rd, 2024", "15 March", "Jan. 5". */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, ordinal, year } from './numbers.ts';
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
const MONTH_BY_NAME: ReadonlyMap<string, string> = new Map(
  MONTHS.flatMap((month): [string, string][] => [
    [month, month],
    [month.toUpperCase(), month],
    [month.slice(0, 3), month],
    ...(month === 'September' ? ([['Sept', month]] as [string, string][]) : []),
  ]),
);

/** Reads a numeric date or one with the name of a month. */
export function readDate(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const numeric = isoDate(core) ?? slashedDate(core);
  if (numeric !== undefined) return { spoken: [numeric] };
  return monthFirst(chunks, at) ?? dayFirst(chunks, at);
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
  const month = MONTH_BY_NAME.get(coreAt(chunks, at));
  if (month === undefined || !joined(chunks, at, '.')) return undefined;
  const next = coreAt(chunks, at + 1);
  if (/^[0-9]{4}$/.test(next)) return { spoken: [month, year(next)] };
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
  const month = MONTH_BY_NAME.get(coreAt(chunks, at + 1));
  if (day === undefined || month === undefined || !joined(chunks, at)) return undefined;
  const article = coreAt(chunks, at - 1).toLowerCase() === 'the' ? '' : 'the ';
  const dot = chunks[at + 1]?.after === '.' && coreAt(chunks, at + 1) !== month ? '.' : '';
  const yearDigits = coreAt(chunks, at + 2);
  if (
    /^[0-9]{4}$/.test(yearDigits) &&
    (joined(chunks, at + 1) || joined(chunks, at + 1, ',') || dot === '.')
  ) {
    return { spoken: [article + day, `of ${month},`, year(yearDigits)] };
  }
  return { spoken: [article + day, `of ${month}`] };
}

/** "3", "3rd", "3-5" → ordinals; undefined if it is not a day of a month. */
function daysOf(core: string): string | undefined {
  const parts = /^([0-9]{1,2})(?:st|nd|rd|th)?(?:[-–]([0-9]{1,2})(?:st|nd|rd|th)?)?$/u.exec(core);
  if (parts === null) return undefined;
  const [, first = '', last] = parts;
  if (!isDay(first) || (last !== undefined && !isDay(last))) return undefined;
  const from = ordinal(first);
  return last === undefined ? from : `${from} to ${ordinal(last)}`;
}

function isDay(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 31;
}
