/** Written numbers of a language: their digits, and how they are spoken. */

/** Grammatical gender of what is counted; `bare` stands alone. */
export type Gender = 'm' | 'f' | 'bare';

/** Names of numbers. */
export interface NumberNames {
  /** @param value 0 to {@link MAX_CARDINAL}. */
  cardinal(value: number, gender?: Gender): string;
  /** Undefined for numbers without a usual form. */
  ordinal(value: number, gender: 'm' | 'f'): string | undefined;
}

/** Longer numbers are read digit by digit. */
export const MAX_CARDINAL = 999_999_999_999_999;

/** A parsed number; both parts are digits. */
export interface WrittenNumber {
  readonly whole: string;
  readonly fraction: string | undefined;
}

export interface NumberFormat {
  /** The other mark separates groups of digits. */
  readonly decimalMark: ',' | '.';
  /** Whether groups have two digits, except the last: 12,34,567. */
  readonly hasPairs?: boolean;
}

/** Digits with marks; groups may be separated by a space. Has no capturing group. */
export const NUMBER = `(?:[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:[.,][0-9]+)?|[0-9]+(?:[.,][0-9]+)*)`;

/** Parses a match of {@link NUMBER}; undefined for another sequence of digits and marks, such as a version. */
export function parseNumber(
  written: string,
  { decimalMark, hasPairs }: NumberFormat,
): WrittenNumber | undefined {
  const text = written.replaceAll(' ', '');
  const groupMark = decimalMark === ',' ? '.' : ',';
  // The marks of another convention: 1,234.56 in Spanish.
  const foreign = new RegExp(`^([0-9]{1,3}(?:\\${decimalMark}[0-9]{3})+)\\${groupMark}([0-9]+)$`).exec(text);
  if (foreign !== null) return { whole: digitsOf(foreign[1] ?? ''), fraction: foreign[2] };
  const [whole = '', fraction, ...more] = text.split(decimalMark);
  if (more.length > 0)
    return isGrouped(text, decimalMark, false) ? { whole: digitsOf(text), fraction: undefined } : undefined;
  if (!whole.includes(groupMark)) return /^[0-9]+$/.test(fraction ?? '0') ? { whole, fraction } : undefined;
  if (isGrouped(whole, groupMark, hasPairs === true)) return { whole: digitsOf(whole), fraction };
  // The mark of another convention: 3.14 in Spanish.
  const [before = '', after, ...rest] = whole.split(groupMark);
  if (fraction !== undefined || rest.length > 0 || after === undefined) return undefined;
  return { whole: before, fraction: after };
}

function isGrouped(text: string, mark: string, hasPairs: boolean): boolean {
  const [first = '', ...groups] = text.split(mark);
  const last = groups.pop();
  return (
    /^[0-9]{1,3}$/.test(first) &&
    /^[0-9]{3}$/.test(last ?? '') &&
    groups.every((group) => group.length === 3 || (hasPairs && group.length === 2))
  );
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, '');
}

/** The digits of a number of thousands with a decimal comma: 1,5 is 1500. */
export function thousands(written: string): string {
  const [whole = '', fraction = ''] = written.split(',');
  return whole + fraction.padEnd(3, '0');
}

/** The name of a whole number. Leading zeros, and more digits than {@link MAX_CARDINAL} has, are read one by one. */
export function wholeNumber(digits: string, names: NumberNames, gender: Gender = 'bare'): string {
  const value = Number(digits);
  if (value > MAX_CARDINAL || (digits.length > 1 && digits.startsWith('0')))
    return digitByDigit(digits, names);
  return names.cardinal(value, gender);
}

export function digitByDigit(digits: string, names: NumberNames): string {
  return [...digits].map((digit) => names.cardinal(Number(digit))).join(' ');
}
