/** Reader for amounts of money: "$5.50", "£3bn", "€1,200", "5¢", "$3.2 million", "20 USD", "$50.00-$100.00", "$0.5/hr". */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, withoutThousands, writtenNumber } from './numbers.ts';

interface Currency {
  readonly one: string;
  readonly many: string;
  /** The hundredth part, if it has a name. */
  readonly part?: { readonly one: string; readonly many: string };
}

const DOLLAR: Currency = { one: 'dollar', many: 'dollars', part: { one: 'cent', many: 'cents' } };
const POUND: Currency = { one: 'pound', many: 'pounds', part: { one: 'penny', many: 'pence' } };
const EURO: Currency = { one: 'euro', many: 'euros', part: { one: 'cent', many: 'cents' } };
const YEN: Currency = { one: 'yen', many: 'yen' };
const RUPEE: Currency = { one: 'rupee', many: 'rupees' };
const FRANC: Currency = { one: 'Swiss franc', many: 'Swiss francs' };
const WON: Currency = { one: 'won', many: 'won' };
const BITCOIN: Currency = { one: 'bitcoin', many: 'bitcoins' };

const SIGNS: Readonly<Record<string, Currency>> = {
  $: DOLLAR,
  '£': POUND,
  '€': EURO,
  '¥': YEN,
  '₹': RUPEE,
  '₩': WON,
  '₿': BITCOIN,
};
const CODES: Readonly<Record<string, Currency>> = {
  USD: dollarOf('US'),
  CAD: dollarOf('Canadian'),
  AUD: dollarOf('Australian'),
  NZD: dollarOf('New Zealand'),
  SGD: dollarOf('Singapore'),
  HKD: dollarOf('Hong Kong'),
  EUR: EURO,
  GBP: POUND,
  JPY: YEN,
  CNY: { one: 'yuan', many: 'yuan' },
  INR: RUPEE,
  CHF: FRANC,
  SEK: { one: 'Swedish krona', many: 'Swedish kronor' },
  NOK: { one: 'Norwegian krone', many: 'Norwegian kroner' },
  DKK: { one: 'Danish krone', many: 'Danish kroner' },
  PLN: { one: 'zloty', many: 'zlotys' },
  MXN: { one: 'Mexican peso', many: 'Mexican pesos' },
  BRL: { one: 'Brazilian real', many: 'Brazilian reais' },
  KRW: WON,
};
function dollarOf(country: string): Currency {
  return { ...DOLLAR, one: `${country} dollar`, many: `${country} dollars` };
}

const SCALES: Readonly<Record<string, string>> = {
  k: 'thousand',
  K: 'thousand',
  m: 'million',
  M: 'million',
  mn: 'million',
  MM: 'million',
  b: 'billion',
  B: 'billion',
  bn: 'billion',
  t: 'trillion',
  T: 'trillion',
  tn: 'trillion',
};
const SCALE_WORDS = new Set(['hundred', 'thousand', 'million', 'billion', 'trillion']);
/** Nouns before which the currency is singular: "a five dollar bill". */
const COUNTED_IN_ONE = new Set(['bill', 'bills', 'note', 'notes', 'coin', 'coins']);

const PERIODS: Readonly<Record<string, string>> = {
  s: 'second',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
  wk: 'week',
  mo: 'month',
  y: 'year',
  yr: 'year',
  kg: 'kilogram',
  lb: 'pound',
  gb: 'gigabyte',
  m: 'meter',
};

const SIGN_FIRST =
  /^([-−]?)(?:US|CA|AU|C|A|NZ|HK)?([$£€¥₹₩₿])([0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)([A-Za-z]{0,2})$/u;
const SIGN_LAST = /^([0-9][0-9,]*(?:\.[0-9]+)?)([$£€¥₹₩₿¢])$/u;

/** Reads an amount with its scale word, if any, and ranges ("$5-10", "$5–$10"). */
export function readMoney(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const coded = currencyCode(chunks, at);
  if (coded !== undefined) return coded;
  if (!/[$£€¥₹₩₿¢]/u.test(core)) return undefined;
  const exact = core.replace(/^~/, '');
  const about = exact === core ? '' : 'about ';
  const cent = /^([0-9][0-9,]*)¢$/u.exec(core);
  if (cent !== null) return { spoken: [countOf(cent[1] ?? '', { one: 'cent', many: 'cents' })] };
  const next = coreAt(chunks, at + 1);
  const scale = joined(chunks, at) ? scaleOf(next) : undefined;
  const per = scaledRange(chunks, at);
  if (per !== undefined) return per;
  const amount = perPeriod(exact) ?? amountOrRange(exact, scale ?? '');
  if (amount === undefined) return undefined;
  const spoken = about + amount;
  if (scale !== undefined) return { spoken: splitBefore(scale, spoken) };
  const single = joined(chunks, at) && COUNTED_IN_ONE.has(next.toLowerCase());
  return { spoken: [single ? spoken.replace(/s$/, '') : spoken] };
}

/** "million", or its abbreviation in a chunk of its own: "$30 b". */
function scaleOf(word: string): string | undefined {
  const written = word.toLowerCase();
  if (SCALE_WORDS.has(written)) return written;
  return Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
}

/** "$1.5 million-$2 million" in three chunks. */
function scaledRange(chunks: readonly Chunk[], at: number): Reading | undefined {
  const parts = /^([a-z]+)[-–]([^-–]{1,20})$/iu.exec(coreAt(chunks, at + 1));
  const [fromScale, toScale] = [scaleOf(parts?.[1] ?? ''), scaleOf(coreAt(chunks, at + 2))];
  if (parts === null || fromScale === undefined || toScale === undefined) return undefined;
  if (!joined(chunks, at) || !joined(chunks, at + 1)) return undefined;
  const [sign = ''] = coreAt(chunks, at);
  const right = parts[2] ?? '';
  const from = oneAmount(coreAt(chunks, at), fromScale);
  const to = oneAmount(right, toScale) ?? oneAmount(sign + right, toScale);
  if (from === undefined || to === undefined) return undefined;
  const [first, unit] = splitBefore(fromScale, from);
  const [last, lastUnit] = splitBefore(toScale, to);
  return { spoken: [first, `${unit} to ${last}`, lastUnit] };
}

/** "three million dollars" → "three", "million dollars". The amount may have its own scale: "$3k million". */
function splitBefore(scale: string, spoken: string): readonly [string, string] {
  const at = spoken.lastIndexOf(` ${scale} `);
  return at === -1 ? [spoken, ''] : [spoken.slice(0, at), spoken.slice(at + 1)];
}

/** "20 USD" and "USD 20". */
function currencyCode(chunks: readonly Chunk[], at: number): Reading | undefined {
  if (!joined(chunks, at)) return undefined;
  const [first, second] = [coreAt(chunks, at), coreAt(chunks, at + 1)];
  const code = second.toUpperCase();
  const trailing = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  const amount = trailing === undefined ? second : first;
  const currency = trailing ?? (Object.hasOwn(CODES, first) ? CODES[first] : undefined);
  if (currency === undefined || !/^[0-9][0-9,.]*$/.test(amount)) return undefined;
  const spoken = amountOf(amount, '', currency);
  return spoken === undefined ? undefined : { spoken: [spoken, ''] };
}

/** "$20/month" → "twenty dollars per month". */
function perPeriod(core: string): string | undefined {
  const slash = core.indexOf('/');
  const period = core.slice(slash + 1);
  if (slash <= 0 || !/^[A-Za-z]{1,12}$/.test(period)) return undefined;
  const spoken = amountOrRange(core.slice(0, slash), '');
  if (spoken === undefined) return undefined;
  const short = period.toLowerCase();
  return `${spoken} per ${Object.hasOwn(PERIODS, short) ? PERIODS[short] : period}`;
}

function amountOrRange(core: string, scale: string): string | undefined {
  const whole = oneAmount(core, scale);
  if (whole !== undefined) return whole;
  const dash = core.slice(1).search(/[-–—]/u) + 1;
  if (dash <= 0) return undefined;
  const left = core.slice(0, dash);
  const right = core.slice(dash + 1);
  const sign = left[0] ?? '';
  const signed = oneAmount(right, scale);
  const to = signed ?? oneAmount(sign + right, scale);
  const [, , , amount = '', suffix = ''] = SIGN_FIRST.exec(left) ?? [];
  if (to === undefined || amount === '') return undefined;
  // "$5-10" has the currency at the end, "$50.00-$100.00" in both amounts.
  const isFull = suffix !== '' || (scale === '' && (signed !== undefined || amount.includes('.')));
  const from = isFull ? oneAmount(left, '') : writtenNumber(amount);
  return from === undefined ? undefined : `${from} to ${to}`;
}

function oneAmount(core: string, scale: string): string | undefined {
  const first = SIGN_FIRST.exec(core);
  if (first !== null) {
    const [, minus = '', sign = '', amount = '', suffix = ''] = first;
    const currency = SIGNS[sign];
    const named = suffix === '' ? scale : SCALES[suffix];
    if (currency === undefined || named === undefined) return undefined;
    const spoken = amountOf(amount, named, currency);
    return spoken === undefined ? undefined : `${minus === '' ? '' : 'minus '}${spoken}`;
  }
  const last = SIGN_LAST.exec(core);
  const currency = SIGNS[last?.[2] ?? ''];
  return last === null || currency === undefined ? undefined : amountOf(last[1] ?? '', scale, currency);
}

/** @param scale "million" etc., or an empty string. */
function amountOf(amount: string, scale: string, currency: Currency): string | undefined {
  const [written = '', decimals = ''] = amount.split('.');
  const whole = withoutThousands(written);
  if (whole === undefined) return undefined;
  if (scale !== '') return `${writtenNumber(amount.replaceAll(',', '')) ?? ''} ${scale} ${currency.many}`;
  if (/^0*$/.test(decimals)) return countOf(whole, currency);
  // "$20.5" and "$20.500" are fifty cents; "$0.0035" has no number of cents.
  const hundredths = decimals.replace(/0+$/, '').padEnd(2, '0');
  if (hundredths.length !== 2 || currency.part === undefined) {
    const number = writtenNumber(`${whole}.${decimals}`);
    return number === undefined ? undefined : `${number} ${currency.many}`;
  }
  const parts = countOf(hundredths, currency.part);
  return Number(whole) === 0 ? parts : `${countOf(whole, currency)} and ${parts}`;
}

function countOf(digits: string, unit: { readonly one: string; readonly many: string }): string {
  const plain = digits.replaceAll(',', '');
  return `${cardinal(plain)} ${Number(plain) === 1 ? unit.one : unit.many}`;
}
