/** What Japanese text has besides words. Readings are in katakana, which the dictionary leaves as they are. */

import { anyOf, escaped, regExp } from '../rules/patterns.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { versionPattern } from '../rules/versions.ts';
import {
  beforePoint,
  COUNTER_SIGNS,
  cardinal,
  counted,
  decimal,
  digitByDigit,
  phoneDigits,
} from './numbers.ts';

/** A number with groups of three digits, and with decimals. It starts at its first digit, so that a search is linear. */
const NUMBER = String.raw`(?<![0-9])(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)`;
/** Not inside a number or a Latin word. */
const START = '(?<![0-9]|[0-9][.,:/])';
const END = '(?![0-9]|[.,:/][0-9])';
/** Signs of amounts before a number, and their names. */
const CURRENCIES: Readonly<Record<string, string>> = {
  '¥': '円',
  US$: 'ドル',
  $: 'ドル',
  '€': 'ユーロ',
  '£': 'ポンド',
  '₩': 'ウォン',
  '₹': 'ルピー',
  JPY: '円',
  USD: 'ドル',
  EUR: 'ユーロ',
};
const UNITS: Readonly<Record<string, string>> = {
  '%': 'パーセント',
  '‰': 'パーミル',
  '°C': '度',
  '°F': '度',
  '°': '度',
  'km/h': 'キロメートルマイジ',
  'm/s': 'メートルマイビョー',
  'km²': 'ヘーホーキロメートル',
  'm²': 'ヘーホーメートル',
  'm³': 'リッポーメートル',
  km: 'キロメートル',
  cm: 'センチメートル',
  mm: 'ミリメートル',
  m: 'メートル',
  kg: 'キログラム',
  mg: 'ミリグラム',
  g: 'グラム',
  t: 'トン',
  ml: 'ミリリットル',
  mL: 'ミリリットル',
  L: 'リットル',
  l: 'リットル',
  ha: 'ヘクタール',
  kcal: 'キロカロリー',
  kbps: 'キロビーピーエス',
  Mbps: 'メガビーピーエス',
  Gbps: 'ギガビーピーエス',
  mAh: 'ミリアンペアジ',
  dB: 'デシベル',
  px: 'ピクセル',
  MW: 'メガワット',
  cc: 'シーシー',
  kWh: 'キロワットジ',
  kW: 'キロワット',
  W: 'ワット',
  V: 'ボルト',
  GHz: 'ギガヘルツ',
  MHz: 'メガヘルツ',
  kHz: 'キロヘルツ',
  Hz: 'ヘルツ',
  KB: 'キロバイト',
  MB: 'メガバイト',
  GB: 'ギガバイト',
  TB: 'テラバイト',
  ...CURRENCIES,
};
const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'A エー B ビー C シー D ディー E イー F エフ G ジー H エイチ I アイ J ジェー K ケー L エル M エム N エヌ O オー P ピー ' +
    'Q キュー R アール S エス T ティー U ユー V ブイ W ダブリュー X エックス Y ワイ Z ゼット'
  )
    .split(' ')
    .flatMap((letter, i, all) => (i % 2 === 0 ? [[letter, all[i + 1] ?? '']] : [])),
);
const LINK_SIGNS: Readonly<Record<string, string>> = {
  '.': 'ドット',
  '/': 'スラッシュ',
  '@': 'アットマーク',
  '-': 'ハイフン',
  _: 'アンダーバー',
  ':': 'コロン',
  '+': 'プラス',
  '&': 'アンド',
  '=': 'イコール',
  '%': 'パーセント',
  '#': 'シャープ',
};
const SIGNS: Readonly<Record<string, string>> = {
  '%': 'パーセント',
  '‰': 'パーミル',
  '+': 'プラス',
  '=': 'イコール',
  '±': 'プラスマイナス',
  '×': 'カケル',
  '÷': 'ワル',
  '&': 'アンド',
  '@': 'アットマーク',
  '#': 'シャープ',
  '°': 'ド',
  '№': 'ナンバー',
  '→': '、',
  '・': ' ',
};
const FRACTIONS: Readonly<Record<string, string>> = {
  '½': '1/2',
  '⅓': '1/3',
  '⅔': '2/3',
  '¼': '1/4',
  '¾': '3/4',
};
const SCALE_VALUES: Readonly<Record<string, bigint>> = {
  百: 100n,
  千: 1_000n,
  万: 10_000n,
  億: 100_000_000n,
  兆: 1_000_000_000_000n,
};
const SCALE_NAMES: Readonly<Record<string, string>> = {
  百: 'ヒャク',
  千: 'セン',
  万: 'マン',
  億: 'オク',
  兆: 'チョー',
};
const KANJI_DIGITS = '〇一二三四五六七八九';
/** Counters whose sounds the dictionary does not join with a number in Kanji: 一回 is イッカイ. */
const JOINED_COUNTERS =
  '回|匹|本|杯|個|冊|階|軒|歳|頭|足|件|校|曲|週間|世紀|か月|ヶ月|カ月|箇所|か所|ヶ所|泊|票|年間|年|時間|時|人|円';
/** Variants of Kanji in names, which the dictionary has in the other form. */
const VARIANTS: Readonly<Record<string, string>> = { 𠮷: '吉', 髙: '高', 﨑: '崎', 濵: '浜' };
/** Acronyms that are words. */
const ACRONYMS: Readonly<Record<string, string>> = {
  NASA: 'ナサ',
  JAXA: 'ジャクサ',
  NATO: 'ナトー',
  FIFA: 'フィファ',
  OPEC: 'オペック',
  JICA: 'ジャイカ',
  ASEAN: 'アセアン',
  TOEIC: 'トーイック',
  COVID: 'コビッド',
  LINE: 'ライン',
  SONY: 'ソニー',
};
/** Acronyms are spelled up to this length; longer capitals are a word. */
const MAX_SPELLED = 5;
/** Words before a number that is read digit by digit. */
const NAMED_NUMBERS =
  '(?:暗証番号|会員番号|注文番号|予約番号|受付番号|口座番号|社員番号|学籍番号|製造番号|シリアル番号|整理番号|管理番号|パスワード|認証コード|確認コード)';
/** Names need no space before them. */
const START_OF_NAME = '(?<![A-Za-z0-9])';
/** A telephone number has at least this many digits. */
const MIN_PHONE_DIGITS = 9;

/** The reading of a number, and its digits if it is whole. */
function read(written: string): { readonly reading: string; readonly digits: string | undefined } {
  const [whole = '', fraction] = written.replaceAll(',', '').split('.');
  return fraction === undefined
    ? { reading: cardinal(whole), digits: whole }
    : { reading: decimal(whole, fraction), digits: undefined };
}

function countedNumber(written: string, sign: string): string {
  const { reading, digits } = read(written);
  return counted(reading, digits, sign);
}

function spelled(letters: string): string {
  return [...letters].map((letter) => LETTERS[letter.toUpperCase()] ?? letter).join('');
}

function spokenLink(link: string): string {
  const end = /[.,;:!?)]*$/u.exec(link)?.[0] ?? '';
  const body = link.slice(0, link.length - end.length);
  return (
    body
      .replace(/^[a-z]{2,8}:\/\//iu, '')
      .replace(/^www\./iu, `${spelled('www')}ドット`)
      .replace(/[^\p{L}\p{M}\p{N}\s]/gu, (sign) => LINK_SIGNS[sign] ?? ' ')
      .replace(/[0-9]+/gu, (digits) => (digits.length > 4 ? digitByDigit(digits) : cardinal(digits))) + end
  );
}

function spokenDate(year: string | undefined, month: string, day: string): string | undefined {
  const [m, d] = [Number(month), Number(day)];
  if (m < 1 || m > 12 || d < 1 || d > 31) return undefined;
  const date = countedNumber(String(m), '月') + dayOfMonth(String(d));
  return year === undefined ? date : countedNumber(String(Number(year)), '年') + date;
}

const dayOfMonth = (day: string) => (day === '1' ? 'ツイタチ' : countedNumber(day, '日'));

function spokenTime(hour: string, minute: string, second: string | undefined): string | undefined {
  if (Number(hour) > 24 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
  const part = (digits: string, sign: string) => countedNumber(String(Number(digits)), sign);
  const isFull = Number(minute) === 0 && second === undefined;
  return (
    part(hour, '時') + (isFull ? '' : part(minute, '分')) + (second === undefined ? '' : part(second, '秒'))
  );
}

/** The value of a number with scales in Kanji: 3万5千 is 35000. */
function scaledValue(written: string): string {
  let total = 0n;
  let group = 0n;
  for (const [, digits = '', scale] of written.replaceAll(',', '').matchAll(/([0-9]*)([百千万億兆]?)/gu)) {
    if (digits === '' && scale === '') continue;
    const size = SCALE_VALUES[scale ?? ''] ?? 1n;
    const number = digits === '' ? 1n : BigInt(digits);
    if (size >= 10_000n) {
      total += (group + (digits === '' && group > 0n ? 0n : number)) * size;
      group = 0n;
    } else {
      group += number * size;
    }
  }
  return String(total + group);
}

const isOrderly = (number: string) =>
  /^(?:[〇一二三四五六七八九]+|(?:[二三四五六七八九]?千)?(?:[二三四五六七八九]?百)?(?:[二三四五六七八九]?十)?[一二三四五六七八九]?)$/u.test(
    number,
  );

/** The digits of a number in Kanji: 二十三 is 23. Without tens, hundreds and thousands the digits are in a row: 二〇二四. */
function kanjiNumber(written: string): string {
  if (!/[十百千]/u.test(written)) return [...written].map((digit) => KANJI_DIGITS.indexOf(digit)).join('');
  let value = 0;
  let digit: number | undefined;
  for (const char of written) {
    const size = { 十: 10, 百: 100, 千: 1000 }[char];
    if (size === undefined) {
      digit = KANJI_DIGITS.indexOf(char);
      continue;
    }
    value += (digit ?? 1) * size;
    digit = undefined;
  }
  return String(value + (digit ?? 0));
}

export const RULES: readonly Rule[] = [
  {
    pattern: /㈱|[(]株[)]/gu,
    speak: () => '株式会社',
  },
  {
    // Half-width kana, and signs that stand for several characters.
    pattern: /[\uff61-\uff9f]+|[\u3200-\u33ff\u2103\u2109\u2116]/gu,
    speak: ([written]) => (written === '№' ? undefined : written.normalize('NFKC')),
  },
  { pattern: regExp(`[${Object.keys(VARIANTS).join('')}]`), speak: ([kanji]) => VARIANTS[kanji] },
  {
    pattern: regExp(
      String.raw`(?<=^|[^\p{Script=Han}0-9〇]|[第約計毎各日月])([〇一二三四五六七八九十百千]{1,7})(${JOINED_COUNTERS})(?!(?![一二三四五六七八九十])[\p{Script=Han}〇])`,
    ),
    speak([written, number = '', sign = '']) {
      const digits = kanjiNumber(number);
      return /^0/.test(digits) || !isOrderly(number) ? written : countedNumber(digits, sign);
    },
  },
  { pattern: /[\u2460-\u2473]/gu, speak: ([sign]) => `${sign.normalize('NFKC')}、` },
  {
    pattern: /[Ⅰ-Ⅻ]/gu,
    speak: ([sign]) => String((sign.codePointAt(0) ?? 0) - 0x215f),
  },
  { pattern: /(?![0-9])\p{Nd}/gu, speak: ([digit]) => digitOf(digit) },
  { pattern: /¥|￥/gu, speak: () => '¥' },
  { pattern: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/gu, speak: ([link]) => spokenLink(link) },
  {
    pattern: /(?:https?:\/\/|www\.)[!-;=?-~]{1,500}/giu,
    speak: ([link]) => spokenLink(link),
  },
  {
    pattern:
      /(?<![\w.-])[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|org|net|edu|gov|info|jp|io|ai|app|dev|co)(?:\/[!-;=?-~]{0,300})?(?![\w-])/gu,
    speak: ([link]) => spokenLink(link),
  },
  {
    pattern: /〒 ?([0-9]{3})-?([0-9]{4})(?![0-9])/gu,
    speak: ([, area = '', place = '']) => `郵便番号 ${phoneDigits(area)}ノ${phoneDigits(place)}`,
  },
  {
    pattern: /(?<![0-9A-Za-z+-])\+[0-9]{1,4}(?:[ .-]?\(?[0-9]{1,5}\)?){1,6}(?![0-9])/gu,
    speak: ([written]) => spokenPhone(written),
  },
  {
    pattern: /(?<![0-9A-Za-z.,+-])(?:\(0[0-9]{1,4}\) ?|0[0-9]{1,4}[- ])[0-9]{1,4}[- ][0-9]{3,4}(?![0-9-])/gu,
    speak: ([written]) => spokenPhone(written),
  },
  {
    pattern: /(?<![0-9A-Za-z.,+-])0[0-9]{9,10}(?![0-9-])/gu,
    speak: ([written]) => spokenPhone(written),
  },
  {
    pattern: regExp(
      String.raw`${START}([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:T(?=[0-9]))?(?![0-9/-])`,
    ),
    speak: ([, year, , month = '', day = '']) => spokenDate(year, month, day),
  },
  {
    pattern: versionPattern(['バージョン', 'ver\\.?', 'Ver\\.?', 'v'], START_OF_NAME),
    speak: ([written]) => dotted(written),
  },
  // A version or an IP address.
  { pattern: /(?<![0-9.])[0-9]{1,5}(?:\.[0-9]{1,5}){2,8}(?![0-9])/gu, speak: ([written]) => dotted(written) },
  {
    // An aircraft.
    pattern: /(?<=(?:ボーイング|Boeing) ?)[1-9][0-9]{2}(?![0-9])/gu,
    speak: ([digits]) => digitByDigit(digits),
  },
  // The police.
  { pattern: /(?<![0-9.,])110番(?![目地線号])/gu, speak: () => 'ヒャクトーバン' },
  {
    pattern: regExp(`(?<=${NAMED_NUMBERS}(?:は|が|:)? ?)[0-9]{4,}(?![0-9]|[.,][0-9]|[年月日円人個件])`),
    speak: ([digits]) => phoneDigits(digits),
  },
  {
    // Block and house: 西新宿2-8-1.
    pattern: /(?<![0-9A-Za-z.,-])[0-9]{1,4}(?:-[0-9]{1,4}){2,3}(?![0-9A-Za-z-])/gu,
    speak: ([written]) => written.split('-').map(cardinal).join('ノ'),
  },
  // The result of a game.
  {
    pattern:
      /(?<=(?:スコア|得点|結果|成績)(?:は|が|:)? ?[0-9]{1,3})-(?=[0-9]{1,3}(?![0-9-]))|(?<=(?<![0-9-])[0-9]{1,3})-(?=[0-9]{1,3}で(?:勝|負|敗|引き分))/gu,
    speak: () => 'タイ',
  },
  { pattern: /(?<=[0-9]) ?- ?(?=[0-9]+ ?=)/gu, speak: () => 'マイナス' },
  { pattern: /(?<=(?<![A-Za-z])[0-9]) ?[x×] ?(?=[0-9])/gu, speak: () => 'カケル' },
  {
    // The first day of a month has a name.
    pattern: /(?<![0-9])([0-9]{1,2})月 ?([0-9]{1,2})日(?!間)/gu,
    speak: ([, month = '', day = '']) => spokenDate(undefined, month, day),
  },
  {
    pattern: regExp(
      String.raw`${START}([0-9]{1,2})\/([0-9]{1,2})(?= ?[(][月火水木金土日][)])|${START}([0-9]{1,2})\/(1[3-9]|2[0-9]|3[01])${END}`,
    ),
    speak: ([, month, day, otherMonth = '', otherDay = '']) =>
      spokenDate(undefined, month ?? otherMonth, day ?? otherDay),
  },
  {
    pattern: /(?<=[0-9]{1,2}:[0-9]{2}) ?[〜～~–-] ?(?=[0-9]{1,2}:[0-9]{2}(?![0-9:]))/gu,
    speak: () => 'から',
  },
  {
    pattern: /(?<![0-9.,])([0-9]{1,4})分の([0-9]{1,4})(?![0-9.,])/gu,
    speak: ([, denominator = '', numerator = '']) => `${cardinal(denominator)}ブンノ${cardinal(numerator)}`,
  },
  {
    pattern: regExp(
      String.raw`${START}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9:])(?: ?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?`,
    ),
    speak([, hour = '', minute = '', second, half]) {
      const time = spokenTime(hour, minute, second);
      if (time === undefined || half === undefined) return time;
      return (half.toLowerCase() === 'a' ? '午前' : '午後') + time;
    },
  },
  // A ratio; times were read before.
  { pattern: /(?<=(?<![0-9.:])[0-9]{1,4}) ?: ?(?=[0-9]{1,4}(?![0-9:]))/gu, speak: () => 'タイ' },
  {
    pattern: /([0-9])?([½⅓⅔¼¾])/gu,
    speak: ([, whole = '', sign = '']) => `${whole === '' ? '' : `${whole}ト`}${FRACTIONS[sign]}`,
  },
  {
    pattern: regExp(String.raw`${START}([0-9]{1,4})\/([0-9]{1,4})${END}`),
    speak: ([, numerator = '', denominator = '']) =>
      Number(denominator) === 0 ? undefined : `${cardinal(denominator)}ブンノ${cardinal(numerator)}`,
  },
  {
    pattern: regExp(
      String.raw`(?<=[0-9]|[0-9][^\s0-9]{1,3}) ?[〜～~–] ?(?=[¥$€£]?[0-9])|(?<=(?<![0-9A-Za-z-])[0-9.,]{1,12})-(?=[0-9.,]{1,12}(?![0-9-]))`,
    ),
    speak: () => 'から',
  },
  {
    pattern: regExp(`(${anyOf(Object.keys(CURRENCIES))}) ?(${NUMBER})([万億兆]?)`),
    speak: ([, sign = '', number = '', scale = '']) => `${number}${scale}${CURRENCIES[sign]}`,
  },
  { pattern: /(?<![A-Za-z0-9])-(?=[0-9])/gu, speak: () => 'マイナス' },
  {
    pattern: regExp(`(${NUMBER})([万億兆])? ?(${anyOf(Object.keys(UNITS))})(?![A-Za-z])`),
    speak([, number = '', scale, unit = '']) {
      const name = UNITS[unit] ?? unit;
      if (scale === undefined) return countedNumber(number, name);
      return number.includes('.')
        ? counted(read(number).reading + (SCALE_NAMES[scale] ?? ''), undefined, name)
        : countedNumber(scaledValue(number + scale), name);
    },
  },
  {
    // 1.5億円
    pattern: regExp(String.raw`(?<![0-9])([0-9]+)\.([0-9]+)([百千万億兆])(${anyOf(COUNTER_SIGNS)})?`),
    speak([, whole = '', fraction = '', scale = '', sign]) {
      const number = decimal(whole, fraction) + (SCALE_NAMES[scale] ?? '');
      return sign === undefined ? number : counted(number, undefined, sign);
    },
  },
  {
    // 3万5千円
    pattern: regExp(
      `((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})[百千万億兆](?:[0-9]{0,8}[百千万億兆]?){0,8})(${anyOf(COUNTER_SIGNS)})?`,
    ),
    speak([, number = '', sign]) {
      const digits = scaledValue(number);
      return sign === undefined ? cardinal(digits) : counted(cardinal(digits), digits, sign);
    },
  },
  {
    pattern: regExp(`(${NUMBER}) ?(${anyOf(COUNTER_SIGNS)})`),
    speak: ([, number = '', sign = '']) => countedNumber(number, sign),
  },
  { pattern: /(?<![A-Za-z])No\. ?(?=[0-9])/gu, speak: () => 'ナンバー' },
  { pattern: regExp(NUMBER), speak: ([number]) => read(number).reading },
  {
    pattern: regExp(`(?<![A-Za-z'’])(?:[A-Z]{1,${MAX_SPELLED}}|[a-z])(?![A-Za-z'’])`),
    speak: ([letters]) => ACRONYMS[letters] ?? spelled(letters),
  },
  { pattern: regExp(`[${Object.keys(SIGNS).map(escaped).join('')}]`), speak: ([sign]) => SIGNS[sign] },
];

/** The value of a decimal digit of any script. Each script has its digits in a row. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}

/** Groups of up to two digits are numbers. */
function dotted(written: string): string {
  const parts = written.split('.').map((part) => (part.length > 2 ? digitByDigit(part) : cardinal(part)));
  return parts.map((part, i) => (i < parts.length - 1 ? beforePoint(part) : part)).join('テン');
}

function spokenPhone(written: string): string | undefined {
  const groups = written.match(/[0-9]+/gu) ?? [];
  if (groups.join('').length < MIN_PHONE_DIGITS) return undefined;
  return (written.startsWith('+') ? 'プラス' : '') + groups.map(phoneDigits).join('、');
}
