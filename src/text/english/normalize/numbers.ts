/** Spoken numbers in American English, without "and": "one hundred five". */

const ONES = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
] as const;
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'] as const;
/** Names of the groups of three digits, lowest first (short scale). */
const SCALES = ['', 'thousand', 'million', 'billion', 'trillion', 'quadrillion', 'quintillion'] as const;
const IRREGULAR_ORDINALS: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};

/** Maximum number of digits of a single number; longer ones are read digit by digit. */
export const MAX_CARDINAL_DIGITS = SCALES.length * 3;

/** "zero" … "ninety-nine". @param value integer, 0–99. */
function belowHundred(value: number): string {
  if (value < 20) return ONES[value] ?? '';
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens}-${ONES[value % 10]}`;
}

function belowThousand(value: number): string {
  if (value < 100) return belowHundred(value);
  const hundreds = `${ONES[Math.floor(value / 100)]} hundred`;
  return value % 100 === 0 ? hundreds : `${hundreds} ${belowHundred(value % 100)}`;
}

/**
 * "1234" → "one thousand two hundred thirty-four". Leading zeros are ignored.
 * @param digits ASCII digits only; more than {@link MAX_CARDINAL_DIGITS} are read digit by digit.
 */
export function cardinal(digits: string): string {
  if (digits.length > MAX_CARDINAL_DIGITS) return digitByDigit(digits);
  const groups: string[] = [];
  for (let end = digits.length, scale = 0; end > 0; end -= 3, scale++) {
    const value = Number(digits.slice(Math.max(0, end - 3), end));
    if (value > 0) groups.unshift(`${belowThousand(value)} ${SCALES[scale]}`.trimEnd());
  }
  return groups.length === 0 ? 'zero' : groups.join(' ');
}

/** "21" → "twenty-first". @param digits as for {@link cardinal}. */
export function ordinal(digits: string): string {
  return toOrdinal(cardinal(digits));
}

/** Converts the last word of a spoken cardinal to an ordinal: "twenty-one" → "twenty-first". */
function toOrdinal(spoken: string): string {
  const cut = Math.max(spoken.lastIndexOf(' '), spoken.lastIndexOf('-')) + 1;
  const last = spoken.slice(cut);
  const made = IRREGULAR_ORDINALS[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return spoken.slice(0, cut) + made;
}

/** "2024" → "two zero two four". @param digits ASCII digits; other characters are skipped. */
export function digitByDigit(digits: string): string {
  const words: string[] = [];
  for (const digit of digits) {
    const word = ONES[digit.charCodeAt(0) - 48];
    if (word !== undefined && digit >= '0' && digit <= '9') words.push(word);
  }
  return words.join(' ');
}

/**
 * "1984" → "nineteen eighty-four", "1905" → "nineteen oh five", "2000" → "two thousand", "2007" → "two
 * thousand seven", "1900" → "nineteen hundred".
 * @param digits four ASCII digits; any other length is read as a cardinal.
 */
export function year(digits: string): string {
  const century = Number(digits.slice(0, 2));
  const rest = Number(digits.slice(2));
  if (digits.length !== 4 || century % 10 === 0) {
    if (digits.length !== 4 || rest < 10 || century === 0) return cardinal(digits);
  }
  if (rest === 0) return `${belowHundred(century)} hundred`;
  return `${belowHundred(century)} ${rest < 10 ? `oh ${ONES[rest]}` : belowHundred(rest)}`;
}

/**
 * Reads digits in pairs, as house numbers and years before 1000 are: "340" → "three forty", "708" → "seven oh eight",
 * "2788" → "twenty-seven eighty-eight", "600" → "six hundred".
 * @param digits 1–4 ASCII digits; more are read digit by digit.
 */
export function pairs(digits: string): string {
  if (digits.length > 4 || digits.startsWith('0')) return digitByDigit(digits);
  if (digits.length < 3 || /^[0-9]000$/.test(digits)) return cardinal(digits);
  const rest = Number(digits.slice(-2));
  const head = cardinal(digits.slice(0, -2));
  if (rest === 0) return `${head} hundred`;
  return `${head} ${rest < 10 ? `oh ${ONES[rest]}` : belowHundred(rest)}`;
}

/** "1990" → "nineteen nineties", "80" → "eighties". @param digits two or four digits that end in 0. */
export function decade(digits: string): string {
  return plural(digits.length === 4 ? year(digits) : cardinal(digits));
}

/** Plural of a spoken number: "six" → "sixes", "twenty" → "twenties". */
export function plural(spoken: string): string {
  if (spoken.endsWith('y')) return `${spoken.slice(0, -1)}ies`;
  return spoken.endsWith('x') ? `${spoken}es` : `${spoken}s`;
}

/**
 * Reads a written number: optional sign, thousands separators, one decimal point, or a fraction character.
 * "1,234.5" → "one thousand two hundred thirty-four point five", "-5" → "minus five".
 * @returns undefined if the text is not such a number.
 */
export function writtenNumber(text: string): string | undefined {
  const parts = /^([-−+]?)([0-9][0-9,]*)?(?:\.([0-9]+))?([½⅓⅔¼¾⅕⅛⅜⅝⅞])?$/u.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole, decimals, vulgar] = parts;
  if (whole === undefined && decimals === undefined && vulgar === undefined) return undefined;
  if (decimals !== undefined && vulgar !== undefined) return undefined;
  const digits = withoutThousands(whole ?? '');
  if (digits === undefined) return undefined;
  const words: string[] = [];
  if (sign !== '') words.push(sign === '+' ? 'plus' : 'minus');
  if (whole !== undefined) words.push(plainDigits(digits, decimals !== undefined));
  if (decimals !== undefined) words.push('point', digitByDigit(decimals));
  if (vulgar !== undefined) words.push(vulgarFraction(vulgar, whole !== undefined));
  return words.join(' ');
}

/** Removes thousands separators. @returns undefined if a comma is in the wrong position. */
export function withoutThousands(written: string): string | undefined {
  if (!written.includes(',')) return written;
  const groups = written.split(',');
  const head = groups[0] ?? '';
  if (head.length === 0 || head.length > 3) return undefined;
  for (let i = 1; i < groups.length; i++) if (groups[i]?.length !== 3) return undefined;
  return groups.join('');
}

/** Digits with a leading zero ("007") are a code, not a quantity. */
function plainDigits(digits: string, hasDecimals: boolean): string {
  if (digits.length > 1 && digits.startsWith('0') && !hasDecimals) return digitByDigit(digits);
  return cardinal(digits);
}

const VULGAR_FRACTIONS: Readonly<Record<string, string>> = {
  '½': 'half',
  '⅓': 'one third',
  '⅔': 'two thirds',
  '¼': 'quarter',
  '¾': 'three quarters',
  '⅕': 'one fifth',
  '⅛': 'one eighth',
  '⅜': 'three eighths',
  '⅝': 'five eighths',
  '⅞': 'seven eighths',
};

function vulgarFraction(sign: string, afterWhole: boolean): string {
  const name = VULGAR_FRACTIONS[sign] ?? '';
  const article = name === 'half' || name === 'quarter';
  if (afterWhole) return `and ${article ? 'a ' : ''}${name}`;
  if (!article) return name;
  return name === 'half' ? 'one half' : 'one quarter';
}

/**
 * Fraction of two numbers: "3/4" → "three quarters", "5/8" → "five eighths".
 * @returns undefined if it is not read as a fraction (denominator 1, 7/24, 24/7, …).
 */
export function fraction(numerator: string, denominator: string): string | undefined {
  const top = Number(numerator);
  const bottom = Number(denominator);
  if (top < 1 || top >= bottom) return undefined;
  if (bottom > 12 && ![16, 20, 32, 64, 100, 1000].includes(bottom)) return undefined;
  if (numerator.startsWith('0') || denominator.startsWith('0')) return undefined;
  const names: Readonly<Record<number, string>> = { 2: 'half', 4: 'quarter' };
  const name = names[bottom] ?? ordinal(denominator);
  return `${cardinal(numerator)} ${top === 1 ? name : `${name}s`}`;
}
