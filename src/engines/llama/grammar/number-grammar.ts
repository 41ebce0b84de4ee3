/** Grammar for numbers of JSON Schema, in one notation: without leading zeros, plus sign or exponent. */

import type { JsonSchema } from '../../../contract/engines/text.ts';
import type { Grammar } from './grammar.ts';
import { UnsupportedSchemaError } from './schema-merge.ts';

/** Maximum number of digits: all integers of this length are exact in a double. */
const MAX_DIGITS = 15;
const LARGEST = 10n ** BigInt(MAX_DIGITS) - 1n;
const MAX_DECIMALS = 9;
/** Minimum number of allowed decimals, for bounds with fewer decimals. */
const DEFAULT_DECIMALS = 2;

/** Maximum number of multiples, because the grammar lists each. */
const MAX_MULTIPLES = 500;
const KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

interface Bounds {
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
}

/**
 * Adds the rule of the numbers that a schema allows and returns its name.
 * @throws UnsupportedSchemaError with the unsupported keyword.
 */
export function numberRule(grammar: Grammar, type: 'integer' | 'number', schema: JsonSchema): string {
  for (const keyword of KEYWORDS) {
    if (schema[keyword] !== undefined && !Number.isFinite(schema[keyword])) {
      throw new UnsupportedSchemaError(`'${keyword}' is not a finite number`);
    }
  }
  const { multipleOf: step, ...bounds }: Bounds & { readonly multipleOf?: number } = schema;
  const decimals = step === undefined ? undefined : decimalsOfStep(step);
  const whole = type === 'integer' || decimals === 0;
  if (step !== undefined && decimals === undefined) {
    const values = Number.isSafeInteger(step) && step > 0 ? multiplesWithin(step, bounds) : undefined;
    if (values !== undefined) return grammar.add('multiple', values.map((value) => `"${value}"`).join(' | '));
    throw new UnsupportedSchemaError(`'multipleOf' without limits that allow 1 to ${MAX_MULTIPLES} values`);
  }
  const bounded = KEYWORDS.some((keyword) => keyword !== 'multipleOf' && keyword in schema);
  if (!bounded && (whole || decimals === undefined)) return whole ? 'integer' : 'number';
  const body = whole ? integerGrammar(bounds) : numberGrammar(bounds, decimals);
  if (body === undefined)
    throw new UnsupportedSchemaError('limits that allow no number of at most 15 digits');
  return grammar.add(type, body);
}

/**
 * Integers within bounds.
 * @returns GBNF, or undefined if the bounds allow no integer of at most 15 digits.
 */
function integerGrammar(bounds: Bounds): string | undefined {
  return scaledGrammar(bounds, 0);
}

/**
 * Numbers within bounds, with and without decimals.
 * @returns GBNF, or undefined if the bounds allow no number of at most 15 digits.
 */
function numberGrammar(bounds: Bounds, maxDecimals = MAX_DECIMALS): string | undefined {
  const given = Object.values(bounds).filter((bound) => bound !== undefined);
  const decimals = Math.min(maxDecimals, Math.max(DEFAULT_DECIMALS, ...given.map(decimalsOf)));
  const whole = integerGrammar(bounds);
  const fraction = decimals > 0 ? scaledGrammar(bounds, decimals) : undefined;
  const both = [whole, fraction].filter((part) => part !== undefined);
  return both.length > 0 ? both.join(' | ') : undefined;
}

/** The multiples of an integer within bounds; undefined if there are none or more than {@link MAX_MULTIPLES}. */
function multiplesWithin(step: number, bounds: Bounds): number[] | undefined {
  const { low, high } = scaledBounds(bounds, 0);
  const by = BigInt(step);
  const first = ((low > 0n ? low + by - 1n : low) / by) * by;
  if (high < first || (high - first) / by >= BigInt(MAX_MULTIPLES)) return undefined;
  const all: number[] = [];
  for (let value = first; value <= high; value += by) all.push(Number(value));
  return all;
}

/** Numbers with exactly this number of decimals. @returns GBNF, or undefined if the bounds allow none. */
function scaledGrammar(bounds: Bounds, decimals: number): string | undefined {
  const { low, high } = scaledBounds(bounds, decimals);
  if (low > high) return undefined;
  const parts: string[] = [];
  // The grammar excludes negative zero.
  if (low < 0n) {
    parts.push(`"-" (${positiveRange(high < 0n ? -high : 1n, -low, decimals)})`);
  }
  if (high >= 0n) parts.push(positiveRange(low > 0n ? low : 0n, high, decimals));
  return parts.join(' | ');
}

/** The lowest and the highest number, in units of the last decimal. */
function scaledBounds(bounds: Bounds, decimals: number): { readonly low: bigint; readonly high: bigint } {
  const scale = 10 ** decimals;
  const lows = [-Number(LARGEST)];
  const highs = [Number(LARGEST)];
  const scaled = (bound: number) => {
    const exact = bound * scale;
    const near = Math.round(exact);
    return Math.abs(exact - near) < 1e-6 ? near : exact;
  };
  if (bounds.minimum !== undefined) lows.push(Math.ceil(scaled(bounds.minimum)));
  if (bounds.exclusiveMinimum !== undefined) lows.push(Math.floor(scaled(bounds.exclusiveMinimum)) + 1);
  if (bounds.maximum !== undefined) highs.push(Math.floor(scaled(bounds.maximum)));
  if (bounds.exclusiveMaximum !== undefined) highs.push(Math.ceil(scaled(bounds.exclusiveMaximum)) - 1);
  const low = Math.max(...lows);
  const high = Math.min(...highs);
  // Numbers of more than 15 digits are not generated.
  if (low > Number(LARGEST) || high < -Number(LARGEST)) return { low: 1n, high: 0n };
  return { low: BigInt(low), high: BigInt(high) };
}

function decimalsOf(bound: number): number {
  const [, decimals = ''] = /\.(\d+)$/.exec(String(bound)) ?? [];
  return decimals.length;
}

function positiveRange(low: bigint, high: bigint, decimals: number): string {
  const parts: string[] = [];
  // At least one digit precedes the decimal point. Only a single digit may be zero.
  for (let digits = decimals + 1; digits <= Math.max(String(high).length, decimals + 1); digits += 1) {
    const min = digits === decimals + 1 ? 0n : 10n ** BigInt(digits - 1);
    const from = low > min ? low : min;
    const max = 10n ** BigInt(digits) - 1n;
    const to = high < max ? high : max;
    if (from > to) continue;
    const pad = (value: bigint) => String(value).padStart(digits, '0');
    parts.push(digitsRange(pad(from), pad(to), digits - decimals));
  }
  return parts.join(' | ');
}

/** GBNF of the digits between two digit strings of the same length, with a decimal point before index `point`. */
function digitsRange(from: string, to: string, point: number, at = 0): string {
  const dot = at === point && at < from.length ? '"." ' : '';
  const tail = from.length - at - 1;
  const [low = '', high = ''] = [from[at], to[at]];
  if (tail < 0) return '';
  const tailIsMin = /^0*$/.test(from.slice(at + 1));
  const tailIsMax = /^9*$/.test(to.slice(at + 1));
  if (low === high && !(tailIsMin && tailIsMax)) {
    return `${dot}"${low}" ${digitsRange(from, to, point, at + 1)}`;
  }
  const parts: string[] = [];
  const firstFree = tailIsMin ? Number(low) : Number(low) + 1;
  const lastFree = tailIsMax ? Number(high) : Number(high) - 1;
  const upper = from.slice(0, at + 1) + '9'.repeat(tail);
  const lower = to.slice(0, at + 1) + '0'.repeat(tail);
  if (!tailIsMin) parts.push(`"${low}" ${digitsRange(from, upper, point, at + 1)}`);
  if (firstFree <= lastFree) {
    const any = Array.from({ length: tail }, (_, after) => `${at + 1 + after === point ? '"." ' : ''}[0-9]`);
    parts.push([`[${firstFree}-${lastFree}]`, ...any].join(' '));
  }
  if (!tailIsMax) parts.push(`"${high}" ${digitsRange(lower, to, point, at + 1)}`);
  return parts.length === 1 ? `${dot}${parts[0]}` : `${dot}(${parts.join(' | ')})`;
}

/** Number of decimals of the steps 1, 0.1, 0.01 …; undefined for other steps. */
function decimalsOfStep(step: number): number | undefined {
  const [, decimals = ''] = /^(?:1|0\.(0*1))$/.exec(String(step)) ?? [undefined, undefined];
  return step === 1 || decimals !== '' ? decimals.length : undefined;
}
