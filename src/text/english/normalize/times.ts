/**
 * Reader for times of day ("3:30 pm", "15:45", "7 a.m.", "9:00-17:00", "5pm-7 pm", "2 pm est"), durations ("1:01:01", "2h30m") and
 * ratios ("3:1").
 */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, digitByDigit } from './numbers.ts';

/** Time zones after a time of day, in any capitalisation. */
const ZONES = new Set(
  (
    'EST EDT ET CST CDT CT MST MDT MT PST PDT PT AKST HST GMT UTC BST CET CEST EET EEST IST JST KST ' +
    'AEST AEDT NZST SGT'
  ).split(' '),
);
/** A time of day without AM or PM, or a range of two. */
const CLOCK = '[0-9:.]{1,8}';

/** Reads a time with or without AM or PM, which may be a separate chunk; a duration; a time zone after a time. */
export function readTime(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const zone = timeZone(chunks, at);
  if (zone !== undefined) return { spoken: [zone] };
  if (!/^[0-9]{1,2}(?![0-9])/.test(core)) return undefined;
  const attached = ATTACHED.exec(core);
  if (attached !== null) {
    const spoken = timeOrRange(attached[1] ?? '', halfOfDay(attached[2] ?? ''));
    return spoken === undefined ? undefined : { spoken: [spoken], after: afterDot(chunks, at, core) };
  }
  const both = BOTH_ATTACHED.exec(core);
  if (both !== null) {
    const [from, to] = [attachedTime(both[1] ?? ''), attachedTime(both[2] ?? '')];
    return from === undefined || to === undefined ? undefined : { spoken: [`${from} to ${to}`] };
  }
  const spread = spreadRange(chunks, at) ?? separateHalf(chunks, at);
  if (spread !== undefined) return spread;
  const spoken = core.includes(':')
    ? (timeOrRange(core, '') ?? duration(core) ?? ratio(core))
    : letterDuration(core);
  return spoken === undefined ? undefined : { spoken: [spoken] };
}

const ATTACHED = new RegExp(`^(${CLOCK}(?:[-–]${CLOCK})?)([ap])\\.?m$`, 'iu');
const BOTH_ATTACHED = new RegExp(`^(${CLOCK}[ap]\\.?m)[-–](${CLOCK}[ap]\\.?m)$`, 'iu');
/** "5pm-7" of "5pm-7 pm". */
const FIRST_ATTACHED = new RegExp(`^(${CLOCK}[ap]\\.?m)[-–](${CLOCK})$`, 'iu');
/** "pm-7" of "5 pm-7 pm". */
const HALF_AND_CLOCK = new RegExp(`^([ap])\\.?m[-–](${CLOCK})$`, 'iu');
const HALF = /^([ap])\.?m$/i;
/** "p.m.est": AM or PM with a time zone. */
const HALF_AND_ZONE = /^([ap])\.?m\.?([a-z]{2,4})$/i;

/** "10 pm", and "1:59 p.m.est". */
function separateHalf(chunks: readonly Chunk[], at: number): Reading | undefined {
  const next = coreAt(chunks, at + 1);
  const withZone = HALF_AND_ZONE.exec(next);
  const zone = (withZone?.[2] ?? '').toUpperCase();
  const parts = HALF.exec(next) ?? (ZONES.has(zone) ? withZone : null);
  if (parts === null || !joined(chunks, at)) return undefined;
  const half = halfOfDay(parts[1] ?? '');
  const spoken = timeOrRange(coreAt(chunks, at), half);
  if (spoken === undefined) return undefined;
  // The half of the day is the last word.
  return {
    spoken: [spoken.slice(0, -half.length), `${half.trim()}${parts === withZone ? ` ${zone}` : ''}`],
    after: afterDot(chunks, at + 1, next),
  };
}

/** "5pm-7 pm" and "5 pm-7 pm". */
function spreadRange(chunks: readonly Chunk[], at: number): Reading | undefined {
  const attached = FIRST_ATTACHED.exec(coreAt(chunks, at));
  const split = HALF_AND_CLOCK.exec(coreAt(chunks, at + 1));
  const halfAt = attached === null ? at + 2 : at + 1;
  const half = HALF.exec(coreAt(chunks, halfAt));
  if ((attached === null && split === null) || half === null) return undefined;
  if (!joined(chunks, at) || (attached === null && !joined(chunks, at + 1))) return undefined;
  const lastHalf = halfOfDay(half[1] ?? '').trim();
  const after = afterDot(chunks, halfAt, coreAt(chunks, halfAt));
  const to = clockTime((attached ?? split)?.[2] ?? '', ' ');
  if (attached !== null) {
    const from = attachedTime(attached[1] ?? '');
    return from === undefined || to === undefined
      ? undefined
      : { spoken: [`${from} to ${to}`, lastHalf], after };
  }
  const from = clockTime(coreAt(chunks, at), ' ');
  if (from === undefined || to === undefined) return undefined;
  return { spoken: [from, `${halfOfDay(split?.[1] ?? '').trim()} to ${to}`, lastHalf], after };
}

/** "est" after "2 pm" or "14:00" → "EST". */
function timeZone(chunks: readonly Chunk[], at: number): string | undefined {
  const zone = coreAt(chunks, at).toUpperCase();
  if (!ZONES.has(zone) || at === 0 || !joined(chunks, at - 1, '.')) return undefined;
  return TIME_END.test(coreAt(chunks, at - 1)) ? zone : undefined;
}

/** Whether a chunk ends a time of day. */
const TIME_END = /^(?:[0-9:.]{1,8})?[ap]\.?m$|^[0-9]{1,2}:[0-9]{2}$/i;

/** Whether a dash between two chunks separates the times of a range: "4:00 am - 8:12 pm". */
export function isTimeRange(before: string, after: string): boolean {
  return TIME_END.test(before) && /^[0-9]{1,2}(?![0-9])/.test(after);
}

/** "1:01:01" → "one hour one minute and one second", "1:30:05.5". */
function duration(core: string): string | undefined {
  const parts = /^([0-9]{1,3}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,6})?)$/.exec(core);
  if (parts === null) return undefined;
  const [, hours = '', minutes = '', seconds = ''] = parts;
  const [whole = '', decimals] = seconds.split('.');
  const spokenSeconds =
    decimals === undefined
      ? counted(whole, 'second')
      : `${cardinal(whole)} point ${digitByDigit(decimals)} seconds`;
  return `${counted(hours, 'hour')} ${counted(minutes, 'minute')} and ${spokenSeconds}`;
}

/** "2h30m" → "two hours thirty minutes", "1d4h", "5m30s"; at least two units. */
function letterDuration(core: string): string | undefined {
  const parts =
    /^(?:([0-9]{1,3})d)?(?:([0-9]{1,3})h)?(?:([0-9]{1,3})(?:m|min))?(?:([0-9]{1,3})(?:s|sec))?$/.exec(core);
  if (parts === null) return undefined;
  const units = ['day', 'hour', 'minute', 'second'];
  const spoken = units.flatMap((unit, i) => {
    const digits = parts[i + 1];
    return digits === undefined ? [] : [counted(digits, unit)];
  });
  return spoken.length < 2 ? undefined : spoken.join(' ');
}

function counted(digits: string, unit: string): string {
  return `${cardinal(digits)} ${unit}${Number(digits) === 1 ? '' : 's'}`;
}

/** "9am" → "nine AM". */
function attachedTime(written: string): string | undefined {
  const parts = /^([0-9:.]{1,8})([ap])/i.exec(written);
  return parts === null ? undefined : clockTime(parts[1] ?? '', halfOfDay(parts[2] ?? ''));
}

/** The dot of "a.m." ends the sentence only before a capital or at the end of the text. */
function afterDot(chunks: readonly Chunk[], at: number, written: string): string | undefined {
  const after = chunks[at]?.after ?? '';
  if (!written.includes('.') || !after.startsWith('.')) return undefined;
  const next = chunks[at + 1];
  const ends = next === undefined || (/^\p{Lu}/u.test(next.core) && !ZONES.has(next.core));
  return ends ? undefined : after.slice(1);
}

function halfOfDay(letter: string): string {
  return letter.toLowerCase() === 'a' ? ' AM' : ' PM';
}

function timeOrRange(core: string, half: string): string | undefined {
  const dash = core.search(/[-–]/u);
  if (dash === -1) return clockTime(core, half);
  const from = clockTime(core.slice(0, dash), half === '' ? '' : ' ');
  const to = clockTime(core.slice(dash + 1), half);
  return from === undefined || to === undefined ? undefined : `${from} to ${to}`;
}

/**
 * "3:05" → "three oh five", "3:00" → "three o'clock", "15:00" → "fifteen hundred".
 * @param half " AM", " PM", or a space to omit both it and "o'clock".
 * @returns undefined if `core` is not a time of day.
 */
export function clockTime(core: string, half = ''): string | undefined {
  // "7.45 pm" is a time, but without AM or PM it is a decimal number.
  const written = half.trim() === '' ? core : core.replace('.', ':');
  const parts = /^([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}))?$/.exec(written);
  if (parts === null) return undefined;
  const [, hours = '', minutes, seconds] = parts;
  if (minutes === undefined && (half === '' || Number(hours) > 12)) return undefined;
  if (Number(hours) > 24 || Number(minutes ?? 0) > 59 || Number(seconds ?? 0) > 59) return undefined;
  // Without AM or PM, three groups are a duration.
  if (seconds !== undefined && half === '') return undefined;
  const tail = Number(seconds ?? 0) === 0 ? '' : ` and ${counted(seconds ?? '', 'second')}`;
  return `${hoursAndMinutes(hours, Number(minutes ?? 0), half)}${tail}${half.trimEnd()}`;
}

function hoursAndMinutes(hours: string, minutes: number, half: string): string {
  const hour = cardinal(hours);
  if (minutes > 0) return `${hour} ${minutes < 10 ? 'oh ' : ''}${cardinal(String(minutes))}`;
  if (half !== '') return hour;
  if (Number(hours) === 0) return 'midnight';
  return Number(hours) <= 12 ? `${hour} o'clock` : `${hour} hundred`;
}

/** "16:9" → "sixteen to nine". */
function ratio(core: string): string | undefined {
  const parts = /^([0-9]{1,6}):([0-9]{1,6})$/.exec(core);
  if (parts === null) return undefined;
  const [, left = '', right = ''] = parts;
  // Minutes and seconds of a race: "25:30".
  const paired = left.length === 2 && /^[0-5][0-9]$/.test(right);
  if (paired) return `${cardinal(left)} ${right.startsWith('0') ? 'oh ' : ''}${cardinal(right)}`;
  return `${cardinal(left)} to ${cardinal(right)}`;
}
