/** Grammar of sets of numbers: without leading zeros and plus sign. */

import { LiteralsAutomaton, MultiplesAutomaton, PatternAutomaton } from './automaton.ts';
import { type TextCondition, textGrammar } from './automaton-grammar.ts';
import type { Grammar } from './grammar.ts';
import { readPattern } from './pattern-syntax.ts';
import { UnsupportedSchemaError } from './schema-values.ts';
import type { NumberSet } from './value-sets.ts';

/** Maximum number of digits: all integers of this length are exact in a double. */
const MAX_DIGITS = 15;
const LARGEST = 10n ** BigInt(MAX_DIGITS) - 1n;
/** Maximum number of multiples, because the grammar lists each. */
const MAX_MULTIPLES = 500;
/** Largest step of multiples without limits, because the grammar has rules for each remainder. */
const MAX_REMAINDERS = 32;
/** Integers and fractions that conditions restrict further. */
const INTEGERS = '(0|-?[1-9][0-9]{0,8})';
const UNSIGNED_INTEGERS = '(0|[1-9][0-9]{0,8})';
const FRACTIONS = '(0|[1-9][0-9]{0,8})\\.[0-9]{0,5}[1-9]';
/** Numbers that differ from zero, in scientific notation. */
const SCIENTIFIC = '[1-9] ("." [0-9]{1,17})? [eE] [+-]? [0-9]{1,2}';

/** A limit of the absolute value. */
interface Limit {
  readonly whole: bigint;
  /** Decimals without trailing zeros. */
  readonly decimals: string;
  readonly exclusive: boolean;
}

/**
 * Adds the rule of a set of numbers and returns its name; undefined if it is empty.
 * @throws UnsupportedSchemaError with the unsupported keyword.
 */
export function numberRule(grammar: Grammar, set: NumberSet): string | undefined {
  const step = commonStep(set.multipleOf);
  const conditional = set.notMultipleOf.length > 0 || set.except.length > 0 || set.fractional;
  const decimals = step === undefined ? undefined : decimalsOfStep(step);
  const whole = set.integer || decimals === 0;
  if (conditional || (step !== undefined && decimals === undefined))
    return conditionalRule(grammar, set, step);
  const bounded = lowOf(set) !== undefined || highOf(set) !== undefined;
  if (!bounded && (whole || decimals === undefined)) return whole ? 'integer' : 'number';
  const parts = whole ? integerGrammar(set) : realGrammar(set, decimals);
  if (parts.length === 0)
    throw new UnsupportedSchemaError('limits that allow no number of at most 15 digits');
  return grammar.add('number', parts.join(' | '));
}

/** The least common multiple of integer steps. */
function commonStep(steps: readonly number[]): number | undefined {
  const [first, ...more] = steps;
  if (first === undefined || more.length === 0) return first;
  if (!steps.every((step) => Number.isSafeInteger(step) && step > 0)) {
    throw new UnsupportedSchemaError("conflicting values of 'multipleOf'");
  }
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  return steps.reduce((a, b) => (a / divisor(a, b)) * b);
}

/** Numbers with a step or with exceptions. */
function conditionalRule(grammar: Grammar, set: NumberSet, step: number | undefined): string | undefined {
  const parts = [...integersOf(grammar, set, step), ...fractionsOf(grammar, set, step)];
  return parts.length === 0 ? undefined : grammar.add('number', parts.join(' | '));
}

/** The integers of a set with a step or with exceptions. */
function integersOf(grammar: Grammar, set: NumberSet, step = 1): string[] {
  if (set.fractional) return [];
  const unsupported = `'multipleOf' without limits that allow 1 to ${MAX_MULTIPLES} values`;
  if (!Number.isSafeInteger(step) || step <= 0) throw new UnsupportedSchemaError(unsupported);
  const values = multiplesWithin(step, set);
  if (values !== undefined) {
    const left = values.filter(
      (value) => !set.except.includes(value) && !set.notMultipleOf.some((each) => value % each === 0),
    );
    return left.map((value) => `"${value}"`);
  }
  const low = lowOf(set);
  const unsigned = low !== undefined && low >= 0;
  const fromZero = low === undefined || (low === 0 && set.exclusiveMinimum !== 0);
  const steps = [step, ...set.notMultipleOf];
  const small = steps.every((each) => Number.isInteger(each) && each > 0 && each <= MAX_REMAINDERS);
  if (highOf(set) !== undefined || (low !== undefined && low !== 0) || !small) {
    if (set.integer || set.multipleOf.length > 0) throw new UnsupportedSchemaError(unsupported);
    return [];
  }
  const conditions = [
    condition(grammar, unsigned ? UNSIGNED_INTEGERS : INTEGERS),
    { automaton: new MultiplesAutomaton(step), wanted: true },
    ...set.notMultipleOf.map((each) => ({ automaton: new MultiplesAutomaton(each), wanted: false })),
    {
      automaton: new LiteralsAutomaton([...set.except.map(String), ...(fromZero ? [] : ['0'])]),
      wanted: false,
    },
  ];
  const text = textGrammar(grammar, conditions, { min: 0, max: Number.POSITIVE_INFINITY });
  return text === undefined ? [] : [text];
}

/** The fractions of a set with exceptions. */
function fractionsOf(grammar: Grammar, set: NumberSet, step: number | undefined): string[] {
  const low = lowOf(set);
  if (set.integer || step !== undefined || highOf(set) !== undefined || (low !== undefined && low !== 0))
    return [];
  if (set.notMultipleOf.some((each) => !Number.isInteger(each))) return [];
  const conditions = [
    condition(grammar, low === undefined ? `-?${FRACTIONS}` : FRACTIONS),
    { automaton: new LiteralsAutomaton(set.except.map(String)), wanted: false },
  ];
  const text = textGrammar(grammar, conditions, { min: 0, max: Number.POSITIVE_INFINITY });
  return text === undefined ? [] : [text];
}

function condition(grammar: Grammar, pattern: string): TextCondition {
  const automaton = new PatternAutomaton(readPattern(`^${pattern}$`), (count) => grammar.countSteps(count));
  return { automaton, wanted: true };
}

/** The multiples of an integer within limits; undefined if there are more than {@link MAX_MULTIPLES}. */
function multiplesWithin(step: number, set: NumberSet): number[] | undefined {
  const { low, high } = integerLimits(set);
  const by = BigInt(step);
  const first = ((low > 0n ? low + by - 1n : low) / by) * by;
  if (high >= first && (high - first) / by >= BigInt(MAX_MULTIPLES)) return undefined;
  const all: number[] = [];
  for (let value = first; value <= high; value += by) all.push(Number(value));
  return all;
}

function lowOf({ minimum, exclusiveMinimum }: NumberSet): number | undefined {
  if (minimum === undefined || exclusiveMinimum === undefined) return minimum ?? exclusiveMinimum;
  return Math.max(minimum, exclusiveMinimum);
}

function highOf({ maximum, exclusiveMaximum }: NumberSet): number | undefined {
  if (maximum === undefined || exclusiveMaximum === undefined) return maximum ?? exclusiveMaximum;
  return Math.min(maximum, exclusiveMaximum);
}

/** The lowest and the highest integer of a set, of at most 15 digits. */
function integerLimits(set: NumberSet): { readonly low: bigint; readonly high: bigint } {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = set;
  const largest = Number(LARGEST);
  const low = Math.max(
    -largest,
    Math.ceil(minimum ?? -largest),
    Math.floor(exclusiveMinimum ?? -largest - 1) + 1,
  );
  const high = Math.min(
    largest,
    Math.floor(maximum ?? largest),
    Math.ceil(exclusiveMaximum ?? largest + 1) - 1,
  );
  if (low > largest || high < -largest) return { low: 1n, high: 0n };
  return { low: BigInt(low), high: BigInt(high) };
}

/** Alternatives of GBNF for the integers within limits. */
function integerGrammar(set: NumberSet): string[] {
  const { low, high } = integerLimits(set);
  if (low > high) return [];
  const parts: string[] = [];
  // The grammar excludes negative zero.
  if (low < 0n) parts.push(`"-" (${positiveRange(high < 0n ? -high : 1n, -low)})`);
  if (high >= 0n) parts.push(positiveRange(low > 0n ? low : 0n, high));
  return parts;
}

/**
 * Alternatives of GBNF for the numbers within limits.
 * @param maxDecimals number of decimals of a step; absent without a step.
 */
function realGrammar(set: NumberSet, maxDecimals?: number): string[] {
  const low = limitOf(lowOf(set), lowOf(set) === set.exclusiveMinimum);
  const high = limitOf(highOf(set), highOf(set) === set.exclusiveMaximum);
  const parts: string[] = [];
  const zero: Limit = { whole: 0n, decimals: '', exclusive: false };
  const above: Limit = { ...zero, exclusive: true };
  if (low === undefined || low.negative) {
    const text = absoluteRange(high?.negative ? high : above, low, maxDecimals);
    if (text !== undefined) parts.push(`"-" (${text})`);
  }
  if (high === undefined || !high.negative) {
    const text = absoluteRange(low === undefined || low.negative ? zero : low, high, maxDecimals);
    if (text !== undefined) parts.push(text);
  }
  if (maxDecimals === undefined) {
    if (high === undefined && (low === undefined || low.negative || isZero(low))) parts.push(SCIENTIFIC);
    if (low === undefined && (high === undefined || !high.negative)) parts.push(`"-" ${SCIENTIFIC}`);
  }
  return parts;
}

function isZero({ whole, decimals }: Limit): boolean {
  return whole === 0n && decimals === '';
}

/** The absolute value of a limit, in decimal notation. */
function limitOf(
  value: number | undefined,
  exclusive: boolean,
): (Limit & { readonly negative: boolean }) | undefined {
  if (value === undefined) return undefined;
  const [, digits = '', decimals = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  const shift = Number(exponent);
  // Beyond this size a limit has no effect on numbers of 15 digits, or no number is below it.
  const left = shift < 0 ? '0'.repeat(-shift) + digits : digits;
  const right = shift > 0 ? decimals.padEnd(shift, '0') : decimals;
  const all = left + right;
  const point = left.length + shift;
  const whole = BigInt(all.slice(0, point));
  const rest = all.slice(point).replace(/0+$/, '');
  return { whole, decimals: rest, exclusive, negative: value < 0 };
}

/** Numbers without sign from a limit to another. @returns GBNF, or undefined if there is none of at most 15 digits. */
function absoluteRange(low: Limit, high: Limit | undefined, maxDecimals?: number): string | undefined {
  if (low.whole > LARGEST) return undefined;
  const top = high === undefined || high.whole > LARGEST ? undefined : high;
  const digits = String(top?.whole ?? low.whole).length;
  // More digits could round to an excluded limit.
  const exact = Math.max(low.decimals.length, top?.decimals.length ?? 0, MAX_DIGITS - digits);
  const places = Math.min(maxDecimals ?? MAX_DIGITS, exact);
  const any = places === 0 ? '' : ` ("." [0-9]{1,${places}})?`;
  const [from, to] = [
    { digits: low.decimals, exclusive: low.exclusive },
    top && { digits: top.decimals, exclusive: top.exclusive },
  ];
  const parts: string[] = [];
  const add = (whole: bigint, tail: string | undefined) => {
    if (tail !== undefined) parts.push(`"${whole}"${tail}`);
  };
  const free = low.decimals === '' && !low.exclusive;
  if (top !== undefined && top.whole < low.whole) return undefined;
  if (top !== undefined && top.whole === low.whole) add(low.whole, decimalsBetween(from, to, places));
  else {
    if (!free) add(low.whole, decimalsBetween(from, undefined, places));
    const first = free ? low.whole : low.whole + 1n;
    const last = top === undefined ? LARGEST : top.whole - 1n;
    if (first <= last) parts.push(`(${positiveRange(first, last)})${any}`);
    if (top !== undefined) add(top.whole, decimalsBetween(undefined, to, places));
  }
  return parts.length === 0 ? undefined : parts.join(' | ');
}

/** Decimals of a limit that a number still has to reach or to respect. */
interface Decimals {
  readonly digits: string;
  readonly exclusive: boolean;
}

/** Decimal point and decimals between two limits. @returns GBNF, or undefined if there are none. */
function decimalsBetween(
  low: Decimals | undefined,
  high: Decimals | undefined,
  places: number,
): string | undefined {
  const more = moreDecimals(low, high, places);
  if (!mayEnd(low, high)) return more === undefined ? undefined : ` "." (${more})`;
  return more === undefined ? '' : ` ("." (${more}))?`;
}

function mayEnd(low: Decimals | undefined, high: Decimals | undefined): boolean {
  if (low !== undefined && (low.digits !== '' || low.exclusive)) return false;
  return !(high?.digits === '' && high.exclusive);
}

/** One or more decimals. */
function moreDecimals(
  low: Decimals | undefined,
  high: Decimals | undefined,
  places: number,
): string | undefined {
  if (places === 0) return undefined;
  if (low === undefined && high === undefined) return `[0-9]{1,${places}}`;
  if (low?.digits === '' && !low.exclusive) return moreDecimals(undefined, high, places);
  if (high?.digits === '') return high.exclusive || low !== undefined ? undefined : `"0"{1,${places}}`;
  if (low?.digits === '' && high === undefined) {
    const least = `[1-9] [0-9]{0,${Math.ceil(places / 2) - 1}}`;
    return places < 2 ? '[1-9]' : `"0"{0,${Math.floor(places / 2)}} ${least}`;
  }
  const [from, to] = [Number(low?.digits[0] ?? 0), Number(high?.digits[0] ?? 9)];
  const parts: string[] = [];
  const after = (limit: Decimals | undefined) => limit && { ...limit, digits: limit.digits.slice(1) };
  const add = (digits: string, nextLow: Decimals | undefined, nextHigh: Decimals | undefined) => {
    const more = moreDecimals(nextLow, nextHigh, places - 1);
    const ends = mayEnd(nextLow, nextHigh);
    if (more === undefined && !ends) return;
    parts.push(`${digits}${more === undefined ? '' : ends ? ` (${more})?` : ` (${more})`}`);
  };
  const [tiesLow, tiesHigh] = [low !== undefined, high !== undefined];
  if (tiesLow && tiesHigh && from === to) add(`"${from}"`, after(low), after(high));
  else {
    if (tiesLow) add(`"${from}"`, after(low), undefined);
    const [first, last] = [tiesLow ? from + 1 : from, tiesHigh ? to - 1 : to];
    if (first <= last) add(`[${first}-${last}]`, undefined, undefined);
    if (tiesHigh) add(`"${to}"`, undefined, after(high));
  }
  return parts.length === 0 ? undefined : parts.join(' | ');
}

/** The integers between two limits without sign. */
function positiveRange(low: bigint, high: bigint): string {
  const parts: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits += 1) {
    const min = digits === 1 ? 0n : 10n ** BigInt(digits - 1);
    const max = 10n ** BigInt(digits) - 1n;
    const [from, to] = [low > min ? low : min, high < max ? high : max];
    // All numbers of this length and of longer ones.
    let longest = digits;
    while (from === min && digits > 1 && 10n ** BigInt(longest) - 1n <= high) longest += 1;
    if (longest > digits + 1) {
      parts.push(`[1-9] [0-9]{${digits - 1},${longest - 2}}`);
      digits = longest - 1;
    } else if (from <= to) parts.push(digitsRange(String(from), String(to)));
  }
  return parts.join(' | ');
}

/** GBNF of the digits between two digit strings of the same length. */
function digitsRange(from: string, to: string): string {
  const [low = '', high = ''] = [from[0], to[0]];
  const tail = from.length - 1;
  if (tail < 0) return '';
  const [lows, highs] = [from.slice(1), to.slice(1)];
  const [tailIsMin, tailIsMax] = [/^0*$/.test(lows), /^9*$/.test(highs)];
  if (low === high && !(tailIsMin && tailIsMax)) return `"${low}" ${digitsRange(lows, highs)}`;
  const parts: string[] = [];
  const firstFree = tailIsMin ? Number(low) : Number(low) + 1;
  const lastFree = tailIsMax ? Number(high) : Number(high) - 1;
  if (!tailIsMin) parts.push(`"${low}" ${digitsRange(lows, '9'.repeat(tail))}`);
  if (firstFree <= lastFree) {
    parts.push(`[${firstFree}-${lastFree}]${tail === 0 ? '' : ` [0-9]{${tail}}`}`);
  }
  if (!tailIsMax) parts.push(`"${high}" ${digitsRange('0'.repeat(tail), highs)}`);
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' | ')})`;
}

/** Number of decimals of the steps 1, 0.1, 0.01 …; undefined for other steps. */
function decimalsOfStep(step: number): number | undefined {
  const [, decimals = ''] = /^(?:1|0\.(0*1))$/.exec(String(step)) ?? [undefined, undefined];
  return step === 1 || decimals !== '' ? decimals.length : undefined;
}
