/** The rules that languages share, from their tables. */

import {
  digitByDigit,
  type Gender,
  NUMBER,
  type NumberFormat,
  type NumberNames,
  parseNumber,
  type WrittenNumber,
  wholeNumber,
} from './numbers.ts';
import { anyOf, escaped, regExp } from './patterns.ts';
import type { Rule } from './spoken-words.ts';
import { versionPattern } from './versions.ts';

/** Singular, plural, and gender if it is not masculine. */
export type Name = readonly [one: string, many: string, gender?: 'f'];

export interface Currency {
  /** Signs and codes: `€`, `EUR`. */
  readonly signs: readonly string[];
  readonly name: Name;
  /** The hundredth part; absent: none is used. */
  readonly cent?: Name;
}

export interface LanguageTables {
  readonly format: NumberFormat;
  readonly numbers: NumberNames;
  /** Whether up to two decimal places are read as a number: 3,14 is "tres coma catorce". */
  readonly readsShortFractions: boolean;
  /** Whether the singular follows a number. */
  readonly isSingular: (number: WrittenNumber) => boolean;
  readonly words: {
    readonly point: string;
    readonly minus: string;
    readonly plus: string;
    readonly equals: string;
    readonly times: string;
    /** Between the sides of a size, such as 20x30 cm. */
    readonly by: string;
    readonly dividedBy: string;
    readonly percent: string;
    readonly perMille: string;
    /** Between a mark and its maximum: 8,5/10. */
    readonly outOf: string;
    /** Between the ends of a range. */
    readonly to: string;
    readonly and: string;
    readonly at: string;
    readonly dot: string;
    readonly slash: string;
    readonly dash: string;
    readonly underscore: string;
    readonly colon: string;
    readonly www: string;
    readonly hash: string;
    readonly degrees: string;
  };
  readonly currencies: readonly Currency[];
  /** Between the currency and its hundredths; without the name of the hundredths if `isShort`. */
  readonly cents: { readonly joiner: string; readonly isShort?: boolean };
  /** Words between a number and a currency that multiply it, and what follows them: "5 millones de euros". */
  readonly scales: readonly string[];
  readonly ofAfterScale: (counted: string, scale: string) => string;
  /** Units by their sign. Signs of several letters are recognized in any case. */
  readonly units: Readonly<Record<string, Name>>;
  /** What follows an amount or a unit: /kg is "por kilogramo". @param name of a unit, or a word as written. */
  readonly per: (name: string, gender: 'f' | undefined) => string;
  readonly months: readonly string[];
  /** @param year digits; undefined: none. */
  readonly date: (day: number, month: string, year: string | undefined) => string;
  /** @param second undefined: none. */
  readonly time: (hour: number, minute: number, second: number | undefined) => string;
  /** What follows a time, such as `a. m.`, by its letters. */
  readonly dayHalves: Readonly<Record<string, string>>;
  /** @returns undefined if the fraction has no usual form. */
  readonly fraction: (numerator: number, denominator: number) => string | undefined;
  /** A whole number with a fraction, such as 2 1/2. */
  readonly mixed: (whole: number, numerator: number, denominator: number) => string;
  /** By their written form with dots. Those of one letter stand before a name: `M. Dupont`. */
  readonly abbreviations: Readonly<Record<string, string>>;
  /** Abbreviations that are words in other capitals, such as French `Me`. The others are recognized in any case. */
  readonly exactAbbreviations?: ReadonlySet<string>;
  /** Words in lower case before a number with dots that is not a decimal: a version or a section. */
  readonly versionWords: readonly string[];
  /** Gender of a number before a word that is counted. */
  readonly genderBefore: (word: string) => Gender;
  /** Rules of the language that come first. */
  readonly first: readonly Rule[];
}

/** Not preceded by a part of the same word or number. */
const START = String.raw`(?<![\p{L}\p{M}\p{N}.,_/@#-])`;
/** Not followed by one. */
const END = String.raw`(?![\p{L}\p{M}\p{N}])`;
const END_OF_NUMBER = `(?![0-9]|[.,:/][0-9])`;
const FRACTION_SIGNS: Readonly<Record<string, string>> = {
  '½': '1/2',
  '⅓': '1/3',
  '⅔': '2/3',
  '¼': '1/4',
  '¾': '3/4',
  '⅛': '1/8',
};
/** A phone number has at least this many digits. */
const MIN_PHONE_DIGITS = 9;
/** Pairs that are read as two numbers. */
const PAIR = /(?<![\p{L}\p{N}.,/])(?:(24)[/x×](7)|(50)\/(50))(?![\p{L}\p{N}/])/gu;
/** Units of the sides of a size. */
const SIDES = '(?:mm|cm|dm|m|km|px)';

export function languageRules(tables: LanguageTables): readonly Rule[] {
  const speaker = new Speaker(tables);
  return [
    ...links(tables),
    ...tables.first,
    versions(tables),
    ...phones(tables),
    ...dates(tables),
    ...times(tables),
    ...fractions(tables),
    ranges(tables),
    products(tables),
    rates(tables),
    ...amounts(tables, speaker),
    ...measures(tables, speaker),
    abbreviations(tables),
    ...signs(tables),
    numbers(tables, speaker),
    ...remainingSigns(tables),
  ];
}

/** Reads numbers in their grammatical context. */
class Speaker {
  constructor(private readonly tables: LanguageTables) {}

  number({ whole, fraction }: WrittenNumber, gender: Gender = 'bare'): string {
    const { numbers, words, readsShortFractions } = this.tables;
    if (fraction === undefined) return wholeNumber(whole, numbers, gender);
    const isShort = readsShortFractions && fraction.length <= 2 && !fraction.startsWith('0');
    const read = isShort ? numbers.cardinal(Number(fraction)) : digitByDigit(fraction, numbers);
    return `${wholeNumber(whole, numbers)} ${words.point} ${read}`;
  }

  /** A number with what it counts. */
  counted(number: WrittenNumber, [one, many, gender]: Name): string {
    const { isSingular, ofAfterScale, scales } = this.tables;
    const spoken = this.number(number, gender ?? 'm');
    const isScale =
      number.fraction === undefined &&
      Number(number.whole) >= 1e6 &&
      scales.includes(spoken.split(' ').at(-1) ?? '');
    if (isScale) return `${spoken} ${ofAfterScale(many, spoken.split(' ').at(-1) ?? '')}`;
    return `${spoken} ${isSingular(number) ? one : many}`;
  }
}

function links({ words, numbers }: LanguageTables): Rule[] {
  const signs: Readonly<Record<string, string>> = {
    '.': words.dot,
    '/': words.slash,
    '@': words.at,
    '-': words.dash,
    _: words.underscore,
    ':': words.colon,
    '+': words.plus,
    '&': words.and,
    '=': words.equals,
    '%': words.percent,
    '#': words.hash,
    '?': '',
    '~': '',
  };
  const spell = (link: string) =>
    link
      .replace(/^[a-z]{2,8}:\/\//i, '')
      .replace(/^www\./i, `${words.www} ${words.dot} `)
      .replace(/[^\p{L}\p{M}\p{N}\s']/gu, (sign) => ` ${signs[sign] ?? ''} `)
      .replace(
        /[0-9]+/g,
        (digits) => ` ${digits.length > 4 ? digitByDigit(digits, numbers) : wholeNumber(digits, numbers)} `,
      )
      .replace(/ +/g, ' ')
      .trim();
  const last = (link: string) => /[.,;:!?)]*$/.exec(link)?.[0] ?? '';
  const speak = ([link]: RegExpExecArray) =>
    spell(link.slice(0, link.length - last(link).length)) + last(link);
  return [
    { pattern: regExp(String.raw`${START}[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}`), speak },
    { pattern: regExp(String.raw`${START}(?:https?:\/\/|www\.)[^\s<>"“”«»]{1,500}`, 'giu'), speak },
    {
      pattern: regExp(
        String.raw`${START}[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|org|net|edu|gov|info|es|fr|it|br|mx|ar|pt|in|eu|io|ai|app|dev|co|uk|de)(?:\/[^\s<>"“”«»]{0,300})?${END}`,
      ),
      speak,
    },
  ];
}

function phones({ numbers, words }: LanguageTables): Rule[] {
  const speak = ([written]: RegExpExecArray) => {
    const groups = written.match(/[0-9]+/g) ?? [];
    const hasAreaCode = written.startsWith('0');
    if (groups.join('').length < MIN_PHONE_DIGITS - (hasAreaCode ? 1 : 0)) return undefined;
    const read = groups.map((group) => digitByDigit(group, numbers)).join(', ');
    return written.startsWith('+') ? `${words.plus} ${read}` : read;
  };
  return [
    {
      pattern: regExp(String.raw`(?<![\p{L}\p{N}+])\+[0-9]{1,4}(?:[ .-]?\(?[0-9]{1,5}\)?){1,6}${END}`),
      speak,
    },
    { pattern: regExp(String.raw`${START}(?:\([0-9]{2,4}\) ?)?[0-9]{2,5}(?:-[0-9]{2,5}){1,3}${END}`), speak },
    { pattern: regExp(String.raw`${START}\([0-9]{2,4}\) ?[0-9]{3,5} ?[0-9]{3,5}${END}`), speak },
    // A number with its area code, which starts with zero: 06 12345678, 02 123456, 0800 123 456.
    { pattern: regExp(`${START}0[0-9]{1,4}(?:[ /-][0-9]{5,8}|(?: [0-9]{2,4}){2,4})${END}`), speak },
  ];
}

/** The parts of a version are whole numbers. */
function versions({ versionWords, words, numbers }: LanguageTables): Rule {
  const anyCase = versionWords.map(
    (word) => `[${word.charAt(0)}${word.charAt(0).toUpperCase()}]${word.slice(1)}`,
  );
  return {
    pattern: versionPattern(['[vV](?=[0-9])', ...anyCase]),
    speak(match) {
      const parts = match[0].split('.').map((part) => wholeNumber(part, numbers));
      return (/\p{L}/u.test(match.input.charAt(match.index - 1)) ? ' ' : '') + parts.join(` ${words.dot} `);
    },
  };
}

function dates({ months, date }: LanguageTables): Rule[] {
  const spoken = (day: string, month: string, year: string | undefined) => {
    const name = months[Number(month) - 1];
    return name === undefined || Number(day) < 1 || Number(day) > 31
      ? undefined
      : date(Number(day), name, year);
  };
  return [
    {
      pattern: regExp(`${START}([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T(?=[0-9])|(?![0-9-]))`),
      speak([written, year, month = '', day = '']) {
        const read = spoken(day, month, year);
        return read === undefined ? undefined : `${read}${written.endsWith('T') ? ' ' : ''}`;
      },
    },
    {
      pattern: regExp(String.raw`${START}([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})${END_OF_NUMBER}${END}`),
      speak: ([, day = '', , month = '', year]) => spoken(day, month, year),
    },
    {
      pattern: regExp(String.raw`${START}([0-9]{1,2})\/([0-9]{1,2})\/([0-9]{2})(?![0-9/])`),
      speak: ([, day = '', month = '', year]) => spoken(day, month, year),
    },
    {
      pattern: regExp(String.raw`${START}([0-9]{2})\/([0-9]{2})(?![0-9/])`),
      speak: ([, day = '', month = '']) => spoken(day, month, undefined),
    },
  ];
}

function times({ time, dayHalves, words }: LanguageTables): Rule[] {
  const halves = Object.keys(dayHalves)
    .map((half) => [...half].map((letter) => `${escaped(letter)}\\.? ?`).join(''))
    .join('|');
  const suffix = String.raw`(?: ?(?:h|hs|hrs)${END}\.?)?${halves === '' ? '()' : String.raw`(?: ?(${halves})(?![\p{L}\p{N}]))?`}`;
  const spoken = (hour = '', minute = '', second: string | undefined, half: string | undefined) => {
    if (Number(hour) > 24 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
    const read = time(Number(hour), Number(minute), second === undefined ? undefined : Number(second));
    const name = dayHalves[(half ?? '').toLowerCase().replace(/[. ]/g, '')];
    return name === undefined ? read : `${read} ${name}${half?.endsWith(' ') ? ' ' : ''}`;
  };
  const clock = '[0-9]{1,2} ?(?::|h) ?[0-9]{2}';
  return [
    // A range: 8:30-9:30, 9h-17h.
    {
      pattern: regExp(
        `(?= ?[-–])(?<=(?<![0-9:])(?:${clock}|[0-9]{1,2} ?h)) ?[-–] ?(?=(?:${clock}|[0-9]{1,2} ?h)(?![0-9\\p{L}]))`,
        'giu',
      ),
      speak: () => ` ${words.to} `,
    },
    {
      pattern: regExp(`${START}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9:])${suffix}`, 'giu'),
      speak: ([, hour, minute, second, half]) => spoken(hour, minute, second, half),
    },
    {
      pattern: regExp(
        String.raw`${START}([0-9]{1,2}) ?h ?([0-5][0-9])(?: ?min${END}\.?|(?![\p{L}\p{N}]))`,
        'giu',
      ),
      speak: ([, hour, minute]) => spoken(hour, minute, undefined, undefined),
    },
    ...(halves === ''
      ? []
      : [
          {
            pattern: regExp(String.raw`${START}([0-9]{1,2}) ?(${halves})(?![\p{L}\p{N}])`, 'giu'),
            speak: ([, hour, half]: RegExpExecArray) =>
              Number(hour) > 12 ? undefined : spoken(hour, '0', undefined, half),
          },
        ]),
  ];
}

function fractions({ fraction, mixed, numbers }: LanguageTables): Rule[] {
  return [
    {
      pattern: PAIR,
      speak: ([, ...pair]) =>
        pair
          .filter((digits) => digits !== undefined)
          .map((digits) => wholeNumber(digits, numbers))
          .join(' '),
    },
    {
      pattern: regExp(`([0-9] ?)?([${Object.keys(FRACTION_SIGNS).join('')}])`),
      speak: ([, whole, sign = '']) =>
        `${whole === undefined ? '' : `${whole.trim()} `}${FRACTION_SIGNS[sign]}`,
    },
    {
      pattern: regExp(String.raw`${START}(?:([0-9]{1,3}) )?([0-9]{1,2})\/([0-9]{1,3})(?![0-9/])${END}`),
      speak([, whole, numerator = '', denominator = '']) {
        if (Number(denominator) === 0) return undefined;
        return whole === undefined
          ? fraction(Number(numerator), Number(denominator))
          : mixed(Number(whole), Number(numerator), Number(denominator));
      },
    },
  ];
}

/** The numbers stay written, for the rule of what they count. */
function ranges({ words }: LanguageTables): Rule {
  return {
    pattern: regExp(`${START}(${NUMBER})(?: ?– ?|-)(${NUMBER})(?! ?=)(?![0-9-])`),
    speak: ([, from, to]) => `${from} ${words.to} ${to}`,
  };
}

/** A product, such as 2x500 mg, or a size. The numbers stay written, for the rule of what they count. */
function products({ words }: LanguageTables): Rule {
  const number = '[0-9]{1,9}(?:[.,][0-9]{1,6})?';
  return {
    // Not a hexadecimal number.
    pattern: regExp(
      String.raw`(?= ?[x×])(?<=(?<![\p{L}\p{N}.,])(?:${number} ?[x×] ?){0,2}(?!0x)${number}) ?[x×] ?(?=${number}(?: ?[x×] ?${number})?( ?${SIDES}${END})?)`,
    ),
    speak: ([, side]) => ` ${side === undefined ? words.times : words.by} `,
  };
}

/** What an amount or a unit is divided by: 10 €/kg, 5 min/km. Units with a slash of their own, such as km/h, stay. */
function rates({ currencies, units, per }: LanguageTables): Rule {
  const signs = anyOf([...currencies.flatMap((currency) => currency.signs), ...Object.keys(units), '%']);
  const lower = new Map(Object.entries(units).map(([sign, name]) => [sign.toLowerCase(), name]));
  return {
    pattern: regExp(
      String.raw`(?=\/)(?<=[0-9] ?(${signs})|(?:${signs}) ?[0-9]{1,9}(?:[.,][0-9]{1,3}){0,3})\/([\p{L}\p{M}]{1,12}[²³]?)(?![\p{L}\p{M}\p{N}/²³])`,
    ),
    speak([, unit, below = '']) {
      if (unit !== undefined && lower.has(`${unit}/${below}`.toLowerCase())) return undefined;
      const [name = below, , gender] = units[below] ?? [];
      return ` ${per(name, gender)}`;
    },
  };
}

function amounts(tables: LanguageTables, speaker: Speaker): Rule[] {
  const { currencies, format, scales, ofAfterScale, cents, numbers: names } = tables;
  const bySign = new Map(
    currencies.flatMap((currency) => currency.signs.map((sign) => [sign, currency] as const)),
  );
  const sign = anyOf([...bySign.keys()]);
  const scale = `(?: (${anyOf(scales)})${END})?`;
  const spoken = (written: string, scaleWord: string | undefined, currencySign: string, minus: string) => {
    const number = parseNumber(written, format);
    const currency = bySign.get(currencySign);
    if (number === undefined || currency === undefined) return undefined;
    const before = minus === '' ? '' : `${tables.words.minus} `;
    const { name, cent } = currency;
    if (scaleWord !== undefined) {
      return `${before}${speaker.number(number, 'm')} ${scaleWord} ${ofAfterScale(name[1], scaleWord)}`;
    }
    const { whole, fraction } = number;
    if (fraction === undefined || cent === undefined || fraction.length > 2)
      return before + speaker.counted(number, name);
    const parts = { whole: String(Number(fraction.padEnd(2, '0'))), fraction: undefined };
    const hundredths = speaker.counted(parts, cent);
    if (Number(whole) === 0 && parts.whole !== '0') return before + hundredths;
    const main = speaker.counted({ whole, fraction: undefined }, name);
    if (parts.whole === '0') return before + main;
    const rest = cents.isShort === true ? names.cardinal(Number(parts.whole)) : hundredths;
    return `${before}${main} ${cents.joiner}${cents.joiner === '' ? '' : ' '}${rest}`;
  };
  const codes = anyOf([...bySign.keys()].filter((code) => /^[A-Z]{3}$/.test(code)));
  return [
    // The code names the dollar: $20 USD.
    {
      pattern: regExp(String.raw`\$ ?(${NUMBER}) ?(?=(?:${codes})(?!\p{L}))`),
      speak: ([, written]) => `${written} `,
    },
    {
      pattern: regExp(String.raw`(?<![\p{L}\p{N}])(-?)(${sign}) ?(-?)(${NUMBER})${scale}`),
      speak: ([, minus = '', currencySign = '', inner = '', written = '', scaleWord]) =>
        spoken(written, scaleWord, currencySign, minus + inner),
    },
    {
      pattern: regExp(String.raw`(?<![\p{L}\p{N}.,-])(-?)(${NUMBER})${scale} ?(${sign})(?![\p{L}\p{M}])`),
      speak: ([, minus = '', written = '', scaleWord, currencySign = '']) =>
        spoken(written, scaleWord, currencySign, minus),
    },
  ];
}

function measures(tables: LanguageTables, speaker: Speaker): Rule[] {
  const { units, words, format } = tables;
  const lower = new Map(Object.entries(units).map(([sign, name]) => [sign.toLowerCase(), name]));
  const unitOf = (sign: string): Name | undefined =>
    Object.hasOwn(units, sign) ? units[sign] : sign.length > 1 ? lower.get(sign.toLowerCase()) : undefined;
  const minusOf = (minus: string) => (minus === '' ? '' : `${words.minus} `);
  return [
    {
      pattern: regExp(String.raw`(?<![\p{L}\p{N}.,-])([-+]?)(${NUMBER}) ?([%‰])`),
      speak([, minus = '', written = '', sign]) {
        const number = parseNumber(written, format);
        const before = minus === '+' ? `${words.plus} ` : minusOf(minus);
        return (
          number && `${before}${speaker.number(number)} ${sign === '%' ? words.percent : words.perMille}`
        );
      },
    },
    {
      pattern: regExp(
        String.raw`(?<![\p{L}\p{N}.,])(-?)(${NUMBER}) ?(${anyOf(Object.keys(units))})(?![\p{L}\p{M}\p{N}²³])`,
        'giu',
      ),
      speak([, minus = '', written = '', sign = '']) {
        const number = parseNumber(written, format);
        const unit = unitOf(sign);
        return number && unit && minusOf(minus) + speaker.counted(number, unit);
      },
    },
  ];
}

/** A short word or the start of a clause. */
const BEFORE_TITLE = /(?:^|[^\p{L}\s] ?|(?<!\p{L})\p{L}{1,4} )$/u;

/** Abbreviations that may also end a sentence keep their dot there. */
function abbreviations({ abbreviations: table, exactAbbreviations: exact }: LanguageTables): Rule {
  const isInitial = (written: string) => /^\p{L}\.$/u.test(written);
  const lower = new Map(
    Object.entries(table)
      .filter(([written]) => exact?.has(written) !== true && !isInitial(written))
      .map(([written, spoken]) => [written.toLowerCase(), spoken]),
  );
  return {
    pattern: regExp(
      String.raw`(?<![\p{L}\p{M}\p{N}.])(?:${anyOf(Object.keys(table))})(?![\p{L}\p{M}])`,
      'giu',
    ),
    speak(match) {
      const [written] = match;
      const spoken = Object.hasOwn(table, written) ? table[written] : lower.get(written.toLowerCase());
      const rest = match.input.slice(match.index + written.length);
      // "D. Juan" and "el rey D. Juan", but not "vitamina D. Luego".
      if (
        isInitial(written) &&
        !(
          /^ \p{Lu}/u.test(rest) &&
          BEFORE_TITLE.test(match.input.slice(Math.max(0, match.index - 6), match.index))
        )
      )
        return undefined;
      const ends = /^(?:etc|ecc)\.?$/i.test(written)
        ? /^["”»)]?(?:\s*$|\s+[\p{Lu}¿¡«“])/u.test(rest)
        : /^["”»)]?\s*$/u.test(rest);
      return spoken === undefined ? undefined : spoken + (ends && written.endsWith('.') ? '.' : '');
    },
  };
}

/** Signs between numbers. */
function signs({ words }: LanguageTables): Rule[] {
  const between: Readonly<Record<string, string>> = {
    '+': words.plus,
    '-': words.minus,
    '=': words.equals,
    '×': words.times,
    x: words.times,
    '*': words.times,
    '÷': words.dividedBy,
    '/': words.dividedBy,
  };
  return [
    // A year without its century: '68.
    { pattern: /(?<![\p{L}\p{N}])'(?=[0-9]{2}(?![\p{L}\p{N}]))/gu, speak: () => '' },
    // A mark, such as 8,5/10.
    {
      pattern:
        /(?<=(?<![\p{L}\p{N}.,])[0-9]{1,3}[.,][0-9]{1,2})\/(?=[0-9]{1,3}(?![\p{L}\p{N}/]|[.,][0-9]))/gu,
      speak: () => ` ${words.outOf} `,
    },
    // A ratio, such as 16:9; times were read before.
    {
      pattern: /(?<=(?<![\p{L}\p{N}.,:])[0-9]{1,3}):(?=[0-9]{1,3}(?![\p{L}\p{N}:]))/gu,
      speak: () => ` ${words.to} `,
    },
    {
      pattern:
        /(?<=[0-9]) ?([+=×*÷]) ?(?=[0-9])|(?<=[0-9]) ([-x/]) (?=[0-9])|(?<=[0-9])([x-])(?=[0-9]+ ?[=x]|[0-9]+$)/gu,
      speak: ([, tight, spaced, last]) => ` ${between[tight ?? spaced ?? last ?? '']} `,
    },
    { pattern: /(?<![\p{L}\p{N}])-(?=[0-9])/gu, speak: () => `${words.minus} ` },
    { pattern: /(?<![\p{L}\p{N}])\+(?=[0-9])/gu, speak: () => `${words.plus} ` },
  ];
}

function numbers({ format, numbers: names, genderBefore, words }: LanguageTables, speaker: Speaker): Rule {
  return {
    pattern: regExp(NUMBER),
    speak(match) {
      const [written] = match;
      const before = match.input.charAt(match.index - 1);
      const rest = match.input.slice(match.index + written.length, match.index + written.length + 40);
      const next = /^ (\p{L}[\p{L}\p{M}]*)/u.exec(rest)?.[1];
      const number = parseNumber(written, format);
      const read =
        number === undefined
          ? written
              .replace(/[.,]/g, ` ${words.dot} `)
              .replace(/[0-9]+/g, (digits) => wholeNumber(digits, names))
          : speaker.number(number, next === undefined ? 'bare' : genderBefore(next));
      const isLetter = /[\p{L}\p{M}]/u;
      return (isLetter.test(before) ? ' ' : '') + read + (isLetter.test(rest.charAt(0)) ? ' ' : '');
    },
  };
}

function remainingSigns({ words }: LanguageTables): Rule[] {
  const spoken: Readonly<Record<string, string>> = {
    '&': words.and,
    '@': words.at,
    '+': words.plus,
    '=': words.equals,
    '%': words.percent,
    '#': words.hash,
    '°': words.degrees,
    '×': words.times,
    '÷': words.dividedBy,
  };
  return [
    { pattern: / (?:-{1,3}|–|—) /gu, speak: () => ' — ' },
    { pattern: /–/gu, speak: () => '—' },
    { pattern: /-{2,}/gu, speak: () => '—' },
    { pattern: /[&@+=%#°×÷]/gu, speak: ([sign]) => ` ${spoken[sign]} ` },
    // Between words: "y/o".
    { pattern: /[/\\|_~^*<>©®™§•·→←]+/gu, speak: () => ' ' },
    { pattern: / +(?=[,.;…])/gu, speak: () => '' },
  ];
}

const ROMAN: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** Numerals of at least two letters, up to XXXIX: other ones are more often abbreviations. */
const NUMERAL = '(?:XXX|XX|X)?(?:IX|IV|VI{0,3}|I{1,3}|X)';

/**
 * Roman numerals that the rules of a language do not know: cardinal after a name (Rocky IV), ordinal before what is counted
 * (III Reich).
 */
export function romanNumerals({
  numbers,
  genderBefore,
}: Pick<LanguageTables, 'numbers' | 'genderBefore'>): Rule[] {
  return [
    {
      pattern: regExp(
        String.raw`(?<=\p{Lu}[\p{L}\p{M}'-]{2,20} )(?=[IVX]{2})(${NUMERAL})(?![\p{L}\p{M}\p{N}])`,
      ),
      speak: ([numeral]) => numbers.cardinal(romanValue(numeral) ?? 0),
    },
    {
      pattern: regExp(
        String.raw`(?<![\p{L}\p{M}\p{N}.-])(?=[IVX]{2})(${NUMERAL})(?= (\p{L}{4,20})(?!\p{L}))`,
      ),
      speak: ([numeral, , noun = '']) =>
        numbers.ordinal(romanValue(numeral) ?? 0, genderBefore(noun.toLowerCase()) === 'f' ? 'f' : 'm'),
    },
  ];
}

/** The value of a Roman numeral up to 399; undefined for other letters. */
export function romanValue(numeral: string): number | undefined {
  if (!/^(?=.)C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/.test(numeral)) return undefined;
  const values = [...numeral].map((letter) => ROMAN[letter] ?? 0);
  return values.reduce((sum, value, i) => sum + (value < (values[i + 1] ?? 0) ? -value : value), 0);
}
