/** What Mandarin text has besides words. Numbers stand without spaces, so the rules do not look for the ends of words. */

import { anyOf, escaped, regExp } from '../rules/patterns.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { versionPattern } from '../rules/versions.ts';
import { counted, digitByDigit, spokenNumber, wholeNumber } from './numbers.ts';

/** Without a capturing group. */
const NUMBER = String.raw`(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?`;
/** Not after a part of the same number or identifier. */
const START = '(?<![A-Za-z0-9_.])';
const END = '(?![A-Za-z0-9])';
/** Names need no space before them. */
const START_OF_NAME = '(?<![A-Za-z0-9])';
const TO = '[-–—~]+';

/** Of links and addresses. */
const LINK_SIGNS: Readonly<Record<string, string>> = {
  '.': '点',
  '/': '斜杠',
  '@': '艾特',
  '-': '杠',
  _: '下划线',
  ':': '冒号',
  '+': '加',
  '&': '和',
  '=': '等于',
  '%': '百分号',
  '#': '井号',
  '?': '问号',
};

function spelledLink(link: string): string {
  const end = /[.,;:!?)]*$/.exec(link)?.[0] ?? '';
  const read = link
    .slice(0, link.length - end.length)
    .replace(/^[a-z]{2,8}:\/\//i, '')
    .replace(/^www(?=\.)/i, 'W W W ')
    .replace(/[0-9]+/g, (digits) => digitByDigit(digits))
    .replace(/[^\p{L}\p{M}\s]/gu, (sign) => LINK_SIGNS[sign] ?? ' ');
  return read.trim() + end;
}

const LINKS: readonly Rule[] = [
  String.raw`(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}`,
  String.raw`(?:https?:\/\/|www\.)[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]{1,500}`,
  String.raw`${START}[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|cn|org|net|edu|gov|info|io|ai|app|dev|hk|tw|me|cc)(?:\/[A-Za-z0-9._~/?#=&%-]{0,300})?${END}`,
].map((source) => ({ pattern: regExp(source, 'giu'), speak: ([link]) => spelledLink(link) }));

function date(year: string, month: string, day: string): string | undefined {
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return undefined;
  return `${digitByDigit(year)}年${wholeNumber(String(Number(month)))}月${wholeNumber(String(Number(day)))}日`;
}

const DATES: readonly Rule[] = [
  {
    pattern: regExp(`${START}([0-9]{4})[-/–]([0-9]{2}) ?(?=赛季|学年|财年)`),
    speak: ([, from = '', to = '']) => `${digitByDigit(from)}到${digitByDigit(to)}`,
  },
  {
    pattern: regExp(`${START}((?:19|20)[0-9]{2})(?:/(0?[1-9]|1[0-2])|-(0[1-9]|1[0-2]))(?![-/.0-9])`),
    speak: ([, year = '', slash, dash]) =>
      `${digitByDigit(year)}年${wholeNumber(String(Number(slash ?? dash)))}月`,
  },
  {
    pattern: regExp(`${START}((?:19|20)[0-9]{2}) ?(?=财年|学年|赛季|款)`),
    speak: ([, year = '']) => digitByDigit(year),
  },
  { pattern: /(?<=公元前?)[0-9]{1,4}(?=年)/gu, speak: ([digits]) => digitByDigit(digits) },
  // People born in these years.
  {
    pattern: regExp(`${START}(?:[5-9][05]|00)(?=后(?![来面边天续]))`),
    speak: ([digits]) => digitByDigit(digits),
  },
  {
    pattern: regExp(
      String.raw`${START}([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:T(?=[0-9]{2}:)|(?![0-9]|[-/.][0-9]))`,
    ),
    speak: ([, year = '', , month = '', day = '']) => date(year, month, day),
  },
  {
    // The month comes first, unless it cannot be one.
    pattern: regExp(String.raw`${START}([0-9]{1,2})\/([0-9]{1,2})\/([0-9]{4})(?![0-9/])`),
    speak: ([, first = '', second = '', year = '']) => date(year, first, second) ?? date(year, second, first),
  },
  {
    pattern: regExp(`${START}([0-9]{4}) ?年? ?${TO} ?([0-9]{4}) ?年`),
    speak: ([, from = '', to = '']) => `${digitByDigit(from)}年到${digitByDigit(to)}年`,
  },
  {
    pattern: regExp(`${START}([12][0-9]{3})${TO}([12][0-9]{3})${END}`),
    speak: ([, from = '', to = '']) => `${digitByDigit(from)}到${digitByDigit(to)}`,
  },
  {
    // Not a number of years: "1000年前".
    pattern: regExp(
      `${START}(?:([0-9]{4})|([0-9]{2})(?= ?年 ?[0-9]{1,2} ?月)) ?年(?!多|来|前|以前|之前|的?历史|的?时间)`,
    ),
    speak: ([, long, short]) =>
      long !== undefined && (Number(long) < 1000 || Number(long) > 2999)
        ? undefined
        : `${digitByDigit(long ?? short ?? '')}年`,
  },
  {
    pattern: regExp(`${START}([0-9]{1,2}) 月 ?(?=[0-9]{1,2} ?[日号])`),
    speak: ([, month = '']) => `${wholeNumber(month)}月`,
  },
  {
    pattern: regExp(`${START}0?([0-9]{1,2})(月|日(?!元))`),
    speak: ([, number = '', name]) => wholeNumber(number) + name,
  },
];

function time(hour: string, minute: string, second: string | undefined): string | undefined {
  if (Number(hour) > 24 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
  const twoDigits = (digits: string) => (digits.startsWith('0') ? digitByDigit(digits) : wholeNumber(digits));
  const hours = `${counted(String(Number(hour)))}点`;
  if (second !== undefined) {
    return `${hours}${minute === '00' ? '零' : twoDigits(minute)}分${second === '00' ? '零' : twoDigits(second)}秒`;
  }
  return minute === '00' ? hours : `${hours}${twoDigits(minute)}分`;
}

const TIMES: readonly Rule[] = [
  {
    pattern: regExp(
      `(?<![A-Za-z0-9_.:])([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9]))?(?![0-9:])(?: ?([AP])\\.?M(?![A-Za-z])\\.?)?`,
      'giu',
    ),
    speak([, hour = '', minute = '', second, half]) {
      const read = time(hour, minute, second);
      const day = half === undefined ? '' : half.toUpperCase() === 'A' ? '上午' : '下午';
      return read === undefined ? undefined : day + read;
    },
  },
  {
    pattern: regExp(String.raw`${START}(1[0-2]|[1-9]) ?([AP])\.?M(?![A-Za-z])\.?`, 'giu'),
    speak: ([, hour = '', half = '']) => `${half.toUpperCase() === 'A' ? '上午' : '下午'}${counted(hour)}点`,
  },
  // A range of times, whose ends were read before.
  { pattern: regExp(`(?<=[点分秒日月年号]) ?${TO} ?(?=[0-9一二两三四五六七八九十])`), speak: () => '到' },
  { pattern: /(?<=[0-9][年月日号时点分秒元个%万亿千百]) ?[-–—~]+ ?(?=[0-9])/gu, speak: () => '到' },
];

const UNITS: Readonly<Record<string, string>> = {
  km: '公里',
  '㎞': '公里',
  m: '米',
  cm: '厘米',
  '㎝': '厘米',
  mm: '毫米',
  '㎜': '毫米',
  μm: '微米',
  µm: '微米',
  nm: '纳米',
  'km²': '平方公里',
  km2: '平方公里',
  'm²': '平方米',
  m2: '平方米',
  '㎡': '平方米',
  'cm²': '平方厘米',
  'm³': '立方米',
  m3: '立方米',
  'cm³': '立方厘米',
  kg: '公斤',
  '㎏': '公斤',
  g: '克',
  mg: '毫克',
  t: '吨',
  L: '升',
  l: '升',
  mL: '毫升',
  ml: '毫升',
  'km/h': '公里每小时',
  'm/s': '米每秒',
  '°C': '摄氏度',
  '℃': '摄氏度',
  '°F': '华氏度',
  '℉': '华氏度',
  '°': '度',
  Hz: '赫兹',
  kHz: '千赫',
  MHz: '兆赫',
  GHz: '吉赫',
  W: '瓦',
  kW: '千瓦',
  kWh: '千瓦时',
  V: '伏',
  mAh: '毫安时',
  Pa: '帕',
  hPa: '百帕',
  dB: '分贝',
  h: '小时',
  min: '分钟',
  s: '秒',
  ms: '毫秒',
  ha: '公顷',
  Ω: '欧姆',
  px: '像素',
};
const UNIT = anyOf(Object.keys(UNITS));
/** Words after a number that count things: two is 两. */
const MEASURES = anyOf(
  (
    '个 只 条 件 位 名 张 本 次 年 天 块 元 米 公里 小时 分钟 秒 周 岁 人 家 辆 台 杯 瓶 碗 斤 公斤 克 吨 升 ' +
    '种 类 层 间 套 双 对 份 句 段 首 部 场 把 棵 朵 座 支 点 倍 步 回 遍 趟 盒 包 片 颗 粒 头 匹 架 艘 门 篇 页 千 万 亿 美元 欧元 英镑'
  ).split(' '),
);

/** The number of a thing that is bought or counted, after a word that may also precede a telephone number. */
const NOT_COUNTED = '(?![0-9]|[.,][0-9]| ?(?:元|块|台|部|个|款|折|%|万|亿|千|多|余|人|件|次|种|条|份|年))';

/** Short numbers of services that need no word before them: 12306, 10086, 95588. */
const SERVICES =
  '(?:123(?:0[56]|1[5-9]|2[0-9]|3[0-9]|4[58]|5[0-9]|6[69]|8[08]|9[5-8])|100(?:1[05]|50|86|99)|95[05][0-9]{2})';

/** Groups of up to two digits are numbers. */
const dotted = (written: string) =>
  written
    .split('.')
    .map((part) => (part.length > 2 ? digitByDigit(part) : wholeNumber(part)))
    .join('点');

const telephone = (written: string) =>
  (written.match(/[0-9]+/g) ?? []).map((group) => digitByDigit(group, true)).join(', ');

const TELEPHONES: readonly Rule[] = [
  // An extension.
  { pattern: /(?<=[0-9] ?转 ?)[0-9]{1,6}/gu, speak: ([digits]) => digitByDigit(digits, true) },
  { pattern: /\+86[ -]?(?=1[3-9][0-9])/gu, speak: () => `加八六, ` },
  {
    pattern: regExp(
      String.raw`(?<![A-Za-z0-9_.])\+([0-9]{1,3})[ -]?((?:\(?[0-9]{2,4}\)?[ -]?){2,4}[0-9]{2,4})(?![0-9])`,
    ),
    speak: ([, country = '', rest = '']) => `加${digitByDigit(country, true)}, ${telephone(rest)}`,
  },
  {
    pattern: regExp(String.raw`${START}(1[3-9][0-9])([ -]?)([0-9]{4})\2([0-9]{4})(?![0-9])`),
    speak: ([, ...groups]) => telephone([groups[0], groups[2], groups[3]].join(' ')),
  },
  {
    pattern: regExp(
      String.raw`${START}(?:\(0[0-9]{2,3}\) ?|0[0-9]{2,3}[ -])[0-9]{3,4}[ -]?[0-9]{4}(?:[ -][0-9]{1,5})?(?![0-9])`,
    ),
    speak: ([written]) => telephone(written),
  },
  { pattern: /\+[0-9]{7,15}(?![0-9])/gu, speak: ([written]) => `加${telephone(written)}` },
  {
    pattern: regExp(`${START}[48]00[ -]?[0-9]{3,4}[ -]?[0-9]{3,4}(?![0-9])`),
    speak: ([written]) => telephone(written),
  },
  {
    pattern: regExp(
      `(?<=(?:电话|热线|拨打|致电|手机|号码|传真|客服)(?:号码?)?(?:是|为|:)? ?(?:[0-9]{3,5}(?:、|和|或者?|及)){0,4})[0-9]{3,}(?:[ -][0-9]{2,}){0,4}${NOT_COUNTED}`,
    ),
    speak: ([written]) => telephone(written),
  },
  {
    pattern: regExp(
      `(?<![A-Za-z0-9_.,¥$€£-])${SERVICES}(?![0-9A-Za-z/-])(?! ?(?:${MEASURES}|${UNIT}))${NOT_COUNTED}`,
    ),
    speak: ([written]) => telephone(written),
  },
];

/** Numbers that name a thing are read digit by digit. */
const IDENTIFIERS: readonly Rule[] = [
  {
    pattern: versionPattern(['版本(?:号|是|为|:)?', '版', 'v', 'V'], START_OF_NAME),
    speak: ([written]) => dotted(written),
  },
  // An aircraft.
  {
    pattern: /(?<=(?:波音|Boeing) ?)[1-9][0-9]{2}(?![0-9])/gu,
    speak: ([digits]) => digitByDigit(digits),
  },
  {
    pattern:
      /(?<=(?:编号|序列号|身份证号?码?|卡号|账号|帐号|订单号?|单号|邮编|邮政编码|密码|验证码|尾号|学号|QQ|微信号?|工号|车牌号?|航班号?)(?:是|为|:)? ?)([A-Za-z]{0,4}-?)([0-9]{2,})([A-Za-z]?)/gu,
    speak: ([, before, digits = '', after]) => `${before}${digitByDigit(digits)}${after}`,
  },
  // A room or flight.
  {
    pattern: regExp(`${START}([0-9]{3,4})(?=(?:号)?(?:房|室|教室|航班|次列车|病房))`),
    speak: ([, digits = '']) => digitByDigit(digits),
  },
  // A version or an IP address.
  {
    pattern: /(?<![0-9.])[0-9]{1,5}(?:\.[0-9]{1,5}){2,8}(?![0-9])/gu,
    speak: ([written]) => dotted(written),
  },
  {
    pattern: regExp(`${START}[0-9]+(?:-[0-9]+){2,}(?![0-9])`),
    speak: ([written]) =>
      written
        .split('-')
        .map((group) => digitByDigit(group))
        .join(', '),
  },
  {
    pattern: /(?<=(?<![A-Za-z0-9])[0-9]{1,5}) ?[x×] ?(?=[0-9]{1,5} ?[A-Za-z]{0,3}(?![A-Za-z0-9]))/gu,
    speak: () => '乘',
  },
  // "A320", "COVID-19".
  {
    pattern: /(?<=[A-Za-z]-?)[0-9]+(?![0-9.,]*[0-9])/gu,
    speak: ([digits]) => (digits.length > 2 ? digitByDigit(digits) : wholeNumber(digits)),
  },
];

const SIGNS_OF_FRACTIONS: Readonly<Record<string, string>> = {
  '½': '二分之一',
  '⅓': '三分之一',
  '⅔': '三分之二',
  '¼': '四分之一',
  '¾': '四分之三',
  '⅕': '五分之一',
  '⅛': '八分之一',
};

const FRACTIONS: readonly Rule[] = [
  { pattern: regExp(`${START}24/7${END}`), speak: () => '二十四小时七天' },
  // A calculation.
  { pattern: /(?<=[0-9]) ?\/ ?(?=[0-9]+ ?=)/gu, speak: () => '除以' },
  {
    pattern: regExp(`(?:(?<![0-9.])([0-9]{1,6}) ?)?([${Object.keys(SIGNS_OF_FRACTIONS).join('')}])`),
    speak: ([, whole, sign = '']) =>
      (whole === undefined ? '' : `${wholeNumber(whole)}又`) + SIGNS_OF_FRACTIONS[sign],
  },
  {
    pattern: regExp(String.raw`${START}(?:([0-9]{1,3}) )?([0-9]{1,3})\/([0-9]{1,4})(?![0-9/])`),
    speak([, whole, numerator = '', denominator = '']) {
      if (Number(denominator) === 0) return undefined;
      const read = `${wholeNumber(denominator)}分之${wholeNumber(numerator)}`;
      return whole === undefined ? read : `${wholeNumber(whole)}又${read}`;
    },
  },
];

/** The whole is "百分之百". */
const percent = (written: string, sign: string) =>
  sign === '‰'
    ? `千分之${spokenNumber(written)}`
    : `百分之${written === '100' ? '百' : spokenNumber(written)}`;

const PERCENTAGES: readonly Rule[] = [
  {
    pattern: regExp(`${START}(-?)(${NUMBER})([%‰]?) ?${TO} ?(${NUMBER}) ?([%‰])`),
    speak: ([, minus, from = '', , to = '', sign = '']) =>
      `${minus === '' ? '' : '负'}${percent(from, sign)}到${percent(to, sign)}`,
  },
  {
    pattern: regExp(`${START}([-+]?)(${NUMBER}) ?([%‰])`),
    speak: ([, sign = '', written = '', percentSign = '']) =>
      (sign === '-' ? '负' : sign === '+' ? '正' : '') + percent(written, percentSign),
  },
];

const CURRENCIES: Readonly<Record<string, string>> = {
  '¥': '元',
  '￥': '元',
  CNY: '元',
  RMB: '元',
  $: '美元',
  US$: '美元',
  USD: '美元',
  '€': '欧元',
  EUR: '欧元',
  '£': '英镑',
  GBP: '英镑',
  HK$: '港元',
  HKD: '港元',
  NT$: '新台币',
  TWD: '新台币',
  A$: '澳元',
  AUD: '澳元',
  C$: '加元',
  CAD: '加元',
  JPY: '日元',
  '₩': '韩元',
  KRW: '韩元',
  '₹': '卢比',
  INR: '卢比',
  '₽': '卢布',
  RUB: '卢布',
  CHF: '瑞士法郎',
  SGD: '新加坡元',
};
const CURRENCY = anyOf(Object.keys(CURRENCIES));
const SCALES: Readonly<Record<string, string>> = {
  K: '千',
  M: '百万',
  B: '十亿',
  THOUSAND: '千',
  MILLION: '百万',
  BILLION: '十亿',
};

function amount(written: string, scale: string | undefined, sign: string): string {
  const letter = SCALES[(scale ?? '').toUpperCase()];
  // "12.50" is said as 12.5.
  const number = written.includes('.') ? written.replace(/\.?0+$/, '') : written;
  const isWhole = !number.includes('.');
  if (letter !== undefined && isWhole) {
    const zeros = { 千: '000', 百万: '000000', 十亿: '000000000' }[letter] ?? '';
    return spokenNumber(number + zeros) + CURRENCIES[sign];
  }
  return counted(number) + (letter ?? scale ?? '') + CURRENCIES[sign];
}

const AMOUNTS: readonly Rule[] = [
  {
    pattern: regExp(
      `(?<![A-Za-z])(${CURRENCY}) ?(${NUMBER}) ?${TO} ?(?:${CURRENCY})? ?(${NUMBER})(?![0-9KMB万亿])`,
    ),
    speak: ([, sign = '', from = '', to = '']) => `${spokenNumber(from)}到${amount(to, undefined, sign)}`,
  },
  {
    pattern: regExp(
      `(?<![A-Za-z])(-?)(${CURRENCY}) ?(-?)(${NUMBER}) ?(百?万亿?|[百千]万|亿|千|(?:[KMB]|thousand|million|billion)(?![A-Za-z]))?(?!元)`,
      'gu',
    ),
    speak: ([, minus, sign = '', inner, written = '', scale]) =>
      `${minus === '' && inner === '' ? '' : '负'}${amount(written, scale, sign)}`,
  },
  {
    pattern: regExp(`${START}(-?)(${NUMBER}) ?(百?万亿?|[百千]万|亿|千)? ?(${CURRENCY})(?![A-Za-z0-9])`),
    speak: ([, minus, written = '', scale, sign = '']) =>
      `${minus === '' ? '' : '负'}${amount(written, scale, sign)}`,
  },
];

const MEASUREMENTS: readonly Rule[] = [
  {
    pattern: regExp(`${START}(-?)(${NUMBER}) ?${TO} ?(-?)(${NUMBER}) ?(${UNIT})(?![A-Za-z0-9²³/])`),
    speak: ([, minus, from = '', inner, to = '', unit = '']) =>
      `${minus === '' ? '' : '负'}${spokenNumber(from)}到${inner === '' ? '' : '负'}${spokenNumber(to)}${UNITS[unit]}`,
  },
  {
    pattern: regExp(`${START}([-+]?)(${NUMBER})([百千]?[万亿])? ?(${UNIT})(?![A-Za-z0-9²³/])`),
    speak: ([, sign, written = '', scale = '', unit = '']) =>
      `${sign === '-' ? '负' : ''}${counted(written)}${scale}${UNITS[unit]}`,
  },
];

const BETWEEN: Readonly<Record<string, string>> = {
  '+': '加',
  '-': '减',
  '×': '乘',
  x: '乘',
  '*': '乘',
  '÷': '除以',
  '/': '除以',
  '=': '等于',
  '<': '小于',
  '>': '大于',
  '≤': '小于等于',
  '≥': '大于等于',
  ':': '比',
};

const NUMBERS: readonly Rule[] = [
  { pattern: /(?<=[米里克斤升元次吨])\/(?=[秒时分小天月年人斤公克米])/gu, speak: () => '每' },
  {
    pattern: /(?<=[0-9])\^(-?)([0-9]+)/gu,
    speak: ([, minus, power]) => `的${minus === '' ? '' : '负'}${power}次方`,
  },
  // Groups with spaces.
  {
    pattern: regExp(`${START}[1-9][0-9]{0,2}(?: [0-9]{3}){2,}(?![0-9])`),
    speak: ([written]) => spokenNumber(written.replaceAll(' ', '')),
  },
  {
    pattern:
      /(?<=[0-9]) ?([+×*÷=<>≤≥]) ?(?=-?[0-9])|(?<=[0-9]) ([-/x]) (?=[0-9])|(?<=[0-9])([:x]) ?(?=[0-9])/gu,
    speak: ([, tight, spaced, last]) => BETWEEN[tight ?? spaced ?? last ?? ''],
  },
  // A calculation: 5-3=2.
  { pattern: /(?<=[0-9])-(?=[0-9]+ ?(?:=|等于))/gu, speak: () => '减' },
  { pattern: regExp(`(?<=[0-9]) ?${TO} ?(?=[0-9])`), speak: () => '到' },
  {
    pattern: /(?<![A-Za-z0-9\p{Script=Han}])-(?=[0-9])|(?<=[\p{Script=Han}])-(?=[0-9])/gu,
    speak: () => '负',
  },
  { pattern: /(?:\bNo\.|№) ?(?=[0-9])/giu, speak: () => '第' },
  {
    // The pieces of one number stay together: "2.5万".
    pattern: regExp(`(第)?(${NUMBER})(?:(?= ?(?:${MEASURES})())|)`),
    speak: ([, ordinal, written = '', isCounted]) =>
      ordinal === undefined && isCounted !== undefined
        ? counted(written)
        : (ordinal ?? '') + spokenNumber(written),
  },
];

const ROMAN_SIGNS = 'ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ';
const CIRCLED_ONE = 0x2460;

const CHARACTERS: readonly Rule[] = [
  // Radicals and compatibility characters.
  { pattern: /[\u2e80-\u2fd5\uf900-\ufaff]/gu, speak: ([character]) => character.normalize('NFKC') },
  {
    pattern: /(?![0-9])\p{Nd}/gu,
    speak: ([digit]) => String([...'0123456789'].find((ascii) => decimalOf(digit) === Number(ascii))),
  },
  { pattern: /[①-⑳]/gu, speak: ([sign]) => `${(sign.codePointAt(0) ?? 0) - CIRCLED_ONE + 1}, ` },
  {
    pattern: regExp(`[${ROMAN_SIGNS}]`),
    speak: ([sign]) => wholeNumber(String(ROMAN_SIGNS.indexOf(sign) + 1)),
  },
  { pattern: /〇/gu, speak: () => '零' },
  { pattern: /(\p{Script=Han})々/gu, speak: ([, character = '']) => character + character },
  { pattern: /(?<![A-Za-z.])(?:[A-Z]\.){2,8}/gu, speak: ([letters]) => letters.replaceAll('.', '') },
];

/** The value of a decimal digit of any script: the ten digits of a script are contiguous in Unicode. */
function decimalOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  const row = code & ~15;
  const start = /\p{Nd}/u.test(String.fromCodePoint(row)) ? row : row + 6;
  return (code - start) % 10;
}

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  'Mr.': 'Mister',
  'Mrs.': 'Missus',
  'Ms.': 'Miss',
  'Dr.': 'Doctor',
  'Prof.': 'Professor',
  'vs.': '对',
  vs: '对',
  'etc.': '等等',
};

const SIGNS: Readonly<Record<string, string>> = {
  '&': '和',
  '@': '艾特',
  '+': '加',
  '=': '等于',
  '%': '百分号',
  '‰': '千分号',
  '#': '井号',
  '°': '度',
  '℃': '摄氏度',
  '×': '乘',
  '÷': '除以',
  '²': '的平方',
  '³': '的立方',
  '>': '大于',
  '<': '小于',
  '¥': '元',
  '￥': '元',
  $: '美元',
  '€': '欧元',
  '£': '英镑',
};

const REST: readonly Rule[] = [
  {
    pattern: regExp(`(?<![A-Za-z.])(?:${anyOf(Object.keys(ABBREVIATIONS))})(?![A-Za-z])`),
    speak: ([written]) => ABBREVIATIONS[written],
  },
  { pattern: /(?<=\p{Script=Han}) ?~ ?(?=\p{Script=Han})/gu, speak: () => '到' },
  // A topic.
  { pattern: /#(\p{L}[^#\s]{0,60})#/gu, speak: ([, topic]) => topic },
  { pattern: /–|-{2,}/gu, speak: () => '—' },
  { pattern: regExp(`[${Object.keys(SIGNS).map(escaped).join('')}]`), speak: ([sign]) => SIGNS[sign] },
  { pattern: /[/\\|_~^*<>©®™§•→←]+/gu, speak: () => ' ' },
  { pattern: / +(?=[,.;…])/gu, speak: () => '' },
];

export const RULES: readonly Rule[] = [
  ...CHARACTERS,
  ...LINKS,
  ...DATES,
  ...TIMES,
  ...TELEPHONES,
  ...IDENTIFIERS,
  ...FRACTIONS,
  ...PERCENTAGES,
  ...AMOUNTS,
  ...MEASUREMENTS,
  ...NUMBERS,
  ...REST,
];
