/** Japanese readings of numbers in katakana. Long vowels are written with ー, as they are spoken. */

const DIGITS = ['ゼロ', 'イチ', 'ニ', 'サン', 'ヨン', 'ゴ', 'ロク', 'ナナ', 'ハチ', 'キュー'] as const;
const HUNDREDS = [
  '',
  'ヒャク',
  'ニヒャク',
  'サンビャク',
  'ヨンヒャク',
  'ゴヒャク',
  'ロッピャク',
  'ナナヒャク',
  'ハッピャク',
  'キューヒャク',
] as const;
const THOUSANDS = [
  '',
  'セン',
  'ニセン',
  'サンゼン',
  'ヨンセン',
  'ゴセン',
  'ロクセン',
  'ナナセン',
  'ハッセン',
  'キューセン',
] as const;
/** Powers of ten thousand. */
const SCALES = ['', 'マン', 'オク', 'チョー'] as const;
/** Longer numbers are read digit by digit. */
const MAX_DIGITS = 16;

/** Endings of a number that are shortened before a counter, such as イチ in イッカイ. */
const SHORTENED: Readonly<Record<string, string>> = {
  イチ: 'イッ',
  ロク: 'ロッ',
  ハチ: 'ハッ',
  ジュー: 'ジュッ',
  ヒャク: 'ヒャッ',
  ビャク: 'ビャッ',
  ピャク: 'ピャッ',
};

export function digitByDigit(digits: string): string {
  return [...digits].map((digit) => DIGITS[Number(digit)]).join('');
}

/** Digits of a telephone number: the short ones are lengthened. */
export function phoneDigits(digits: string): string {
  return [...digits].map((digit) => ({ 2: 'ニー', 5: 'ゴー' })[digit] ?? DIGITS[Number(digit)]).join('');
}

/** @param digits of a whole number; leading zeros are read. */
export function cardinal(digits: string): string {
  if (digits.length > MAX_DIGITS || (digits.length > 1 && digits.startsWith('0')))
    return digitByDigit(digits);
  const value = BigInt(digits);
  if (value === 0n) return DIGITS[0];
  let read = '';
  for (let [rest, scale] = [value, 0]; rest > 0n; rest /= 10_000n, scale++) {
    const group = Number(rest % 10_000n);
    if (group === 0) continue;
    const name = SCALES[scale] ?? '';
    const number = belowTenThousand(group, scale > 0);
    read = (name === 'チョー' ? shortened(number, ['イチ', 'ハチ', 'ジュー']) : number) + name + read;
  }
  return read;
}

function belowTenThousand(value: number, isScaled: boolean): string {
  const [thousands, hundreds, tens, ones] = [1000, 100, 10, 1].map((unit) => Math.floor(value / unit) % 10);
  const thousand = thousands === 1 && isScaled ? 'イッセン' : (THOUSANDS[thousands ?? 0] ?? '');
  const ten = tens === 0 ? '' : `${tens === 1 ? '' : DIGITS[tens ?? 0]}ジュー`;
  return thousand + (HUNDREDS[hundreds ?? 0] ?? '') + ten + (ones === 0 ? '' : DIGITS[ones ?? 0]);
}

/** A decimal number: 3.14 is "サンテンイチヨン". */
export function decimal(whole: string, fraction: string): string {
  const before = whole === '0' ? 'レー' : beforePoint(cardinal(whole));
  return `${before}テン${digitByDigit(fraction)}`;
}

/** The reading of a number before テン: イッテン, ジュッテン. */
export function beforePoint(number: string): string {
  return shortened(number, ['イチ', 'ハチ', 'ジュー']);
}

function shortened(number: string, endings: readonly string[]): string {
  const ending = endings.find((candidate) => number.endsWith(candidate));
  return ending === undefined ? number : number.slice(0, -ending.length) + (SHORTENED[ending] ?? '');
}

/** How a counter and the number before it change each other's sounds. */
interface Counter {
  readonly reading: string;
  /** Endings of the number that are shortened. */
  readonly shortens?: readonly string[];
  /** Reading after these endings; the first one applies. */
  readonly after?: Readonly<Record<string, string>>;
  /** Endings of the number that are read differently: ヨン in ヨネン. */
  readonly endings?: Readonly<Record<string, string>>;
  /** Whole words, by number. */
  readonly words?: Readonly<Record<string, string>>;
}

const K_SOUND = ['イチ', 'ロク', 'ハチ', 'ジュー', 'ヒャク', 'ビャク', 'ピャク'];
const S_SOUND = ['イチ', 'ハチ', 'ジュー'];
const plain = (reading: string): Counter => ({ reading });
const kSound = (reading: string): Counter => ({ reading, shortens: K_SOUND });
const sSound = (reading: string): Counter => ({ reading, shortens: S_SOUND });
/** @param soft, hard: after サン, セン and マン, and after a shortened number. */
const hSound = (reading: string, soft: string, hard: string, four = reading): Counter => ({
  reading,
  shortens: K_SOUND,
  after: { ッ: hard, サン: soft, ヨン: four, セン: soft, ゼン: soft, マン: soft },
});
const FOUR = { ヨン: 'ヨ' };
const HOUR = { ヨン: 'ヨ', ナナ: 'シチ', キュー: 'ク' };
const DAYS: Readonly<Record<string, string>> = {
  2: 'フツカ',
  3: 'ミッカ',
  4: 'ヨッカ',
  5: 'イツカ',
  6: 'ムイカ',
  7: 'ナノカ',
  8: 'ヨーカ',
  9: 'ココノカ',
  10: 'トーカ',
  14: 'ジューヨッカ',
  20: 'ハツカ',
  24: 'ニジューヨッカ',
};
const PEOPLE = { 1: 'ヒトリ', 2: 'フタリ' };

/** Counters by their written form, with the usual reading (NHK, 日本語発音アクセント新辞典, 数詞と助数詞). */
const COUNTERS: Readonly<Record<string, Counter>> = {
  円: { reading: 'エン', endings: FOUR },
  年: { reading: 'ネン', endings: FOUR },
  年間: { reading: 'ネンカン', endings: FOUR },
  年代: { reading: 'ネンダイ', endings: FOUR },
  年生: { reading: 'ネンセー', endings: FOUR },
  月: { reading: 'ガツ', endings: { ヨン: 'シ', ナナ: 'シチ', キュー: 'ク' } },
  日: { reading: 'ニチ', endings: { ナナ: 'シチ', キュー: 'ク' }, words: DAYS },
  日間: {
    reading: 'ニチカン',
    endings: { ナナ: 'シチ', キュー: 'ク' },
    words: Object.fromEntries(Object.entries(DAYS).map(([day, name]) => [day, `${name}カン`])),
  },
  時: { reading: 'ジ', endings: HOUR, words: { 0: 'レージ' } },
  時間: { reading: 'ジカン', endings: HOUR },
  分: hSound('フン', 'プン', 'プン', 'プン'),
  分間: hSound('フンカン', 'プンカン', 'プンカン', 'プンカン'),
  秒: plain('ビョー'),
  秒間: plain('ビョーカン'),
  週: sSound('シュー'),
  週間: sSound('シューカン'),
  か月: kSound('カゲツ'),
  ヶ月: kSound('カゲツ'),
  カ月: kSound('カゲツ'),
  ケ月: kSound('カゲツ'),
  箇月: kSound('カゲツ'),
  か国: kSound('カコク'),
  カ国: kSound('カコク'),
  ヶ国: kSound('カコク'),
  か所: kSound('カショ'),
  カ所: kSound('カショ'),
  ヶ所: kSound('カショ'),
  箇所: kSound('カショ'),
  世紀: sSound('セーキ'),
  人: { reading: 'ニン', endings: FOUR, words: PEOPLE },
  名: plain('メー'),
  歳: { ...sSound('サイ'), words: { 20: 'ハタチ' } },
  才: { ...sSound('サイ'), words: { 20: 'ハタチ' } },
  つ: {
    reading: 'ツ',
    words: {
      1: 'ヒトツ',
      2: 'フタツ',
      3: 'ミッツ',
      4: 'ヨッツ',
      5: 'イツツ',
      6: 'ムッツ',
      7: 'ナナツ',
      8: 'ヤッツ',
      9: 'ココノツ',
    },
  },
  個: kSound('コ'),
  コ: kSound('コ'),
  回: kSound('カイ'),
  回目: kSound('カイメ'),
  階: { ...kSound('カイ'), after: { サン: 'ガイ' } },
  階建て: { ...kSound('カイダテ'), after: { サン: 'ガイダテ' } },
  軒: { ...kSound('ケン'), after: { サン: 'ゲン' } },
  件: kSound('ケン'),
  曲: kSound('キョク'),
  校: kSound('コー'),
  位: plain('イ'),
  番: plain('バン'),
  番目: plain('バンメ'),
  番線: plain('バンセン'),
  号: plain('ゴー'),
  号室: plain('ゴーシツ'),
  号車: plain('ゴーシャ'),
  枚: plain('マイ'),
  台: plain('ダイ'),
  度: plain('ド'),
  倍: plain('バイ'),
  割: { reading: 'ワリ' },
  冊: sSound('サツ'),
  種類: sSound('シュルイ'),
  足: { ...sSound('ソク'), after: { サン: 'ゾク' } },
  頭: sSound('トー'),
  通: sSound('ツー'),
  点: sSound('テン'),
  等: sSound('トー'),
  着: sSound('チャク'),
  丁目: sSound('チョーメ'),
  番地: plain('バンチ'),
  羽: plain('ワ'),
  本: hSound('ホン', 'ボン', 'ポン'),
  匹: hSound('ヒキ', 'ビキ', 'ピキ'),
  杯: hSound('ハイ', 'バイ', 'パイ'),
  泊: hSound('ハク', 'パク', 'パク', 'パク'),
  票: hSound('ヒョー', 'ビョー', 'ピョー'),
  発: hSound('ハツ', 'パツ', 'パツ', 'パツ'),
  歩: hSound('ホ', 'ポ', 'ポ', 'ポ'),
  ページ: { reading: 'ページ', shortens: ['ジュー'] },
  頁: { reading: 'ページ', shortens: ['ジュー'] },
  パーセント: { reading: 'パーセント', shortens: ['ジュー'] },
  トン: sSound('トン'),
};

/** The written forms of counters, longer ones first. */
export const COUNTER_SIGNS: readonly string[] = Object.keys(COUNTERS).toSorted((a, b) => b.length - a.length);

/**
 * A number with its counter.
 * @param reading of the number, as of {@link cardinal} or {@link decimal}.
 * @param digits of a whole number, or undefined.
 */
export function counted(reading: string, digits: string | undefined, sign: string): string {
  const counter = COUNTERS[sign];
  if (counter === undefined) return reading + sign;
  const { shortens = [], after = {}, endings = {}, words = {} } = counter;
  const word = digits === undefined ? undefined : words[digits];
  if (word !== undefined) return word;
  let number = shortened(reading, shortens);
  const changed = Object.keys(endings).find((ending) => number.endsWith(ending));
  if (changed !== undefined) number = number.slice(0, -changed.length) + (endings[changed] ?? '');
  const sound = Object.keys(after).find((ending) => number.endsWith(ending));
  return number + (sound === undefined ? counter.reading : (after[sound] ?? ''));
}
