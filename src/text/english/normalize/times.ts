/** Reader for times of day ("3:30 pm", "15:45", "7 a.m.", "9:00-17:00") and ratios ("3:1"). */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal } from './numbers.ts';

/** Reads a time with or without AM or PM, which may be a separate chunk. */
export function readTime(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  if (!/^[0-9]{1,2}(?![0-9])/.test(core)) return undefined;
  const attached = /^([0-9:.]{1,8}(?:[-–][0-9:.]{1,8})?)([ap])\.?m$/iu.exec(core);
  if (attached !== null) {
    const spoken = timeOrRange(attached[1] ?? '', halfOfDay(attached[2] ?? ''));
    return spoken === undefined ? undefined : { spoken: [spoken], after: afterDot(chunks, at, core) };
  }
  const both = /^([0-9:.]{1,8}[ap]\.?m)[-–]([0-9:.]{1,8}[ap]\.?m)$/iu.exec(core);
  if (both !== null) {
    const [from, to] = [attachedTime(both[1] ?? ''), attachedTime(both[2] ?? '')];
    return from === undefined || to === undefined ? undefined : { spoken: [`${from} to ${to}`] };
  }
  const next = /^([ap])\.?m$/i.exec(coreAt(chunks, at + 1));
  if (next !== null && joined(chunks, at)) {
    const half = halfOfDay(next[1] ?? '');
    const spoken = timeOrRange(core, half);
    if (spoken === undefined) return undefined;
    // The half of the day is the last word.
    return {
      spoken: [spoken.slice(0, -half.length), half.trim()],
      after: afterDot(chunks, at + 1, coreAt(chunks, at + 1)),
    };
  }
  const spoken = core.includes(':') ? (timeOrRange(core, '') ?? ratio(core)) : undefined;
  return spoken === undefined ? undefined : { spoken: [spoken] };
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
  return next === undefined || /^\p{Lu}/u.test(next.core) ? undefined : after.slice(1);
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
  const tail = seconds === undefined ? '' : ` and ${cardinal(seconds)} seconds`;
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
