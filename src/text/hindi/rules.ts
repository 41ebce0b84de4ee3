/** What Hindi text has besides words. */

import { type LanguageTables, languageRules } from '../rules/language-rules.ts';
import { digitByDigit } from '../rules/numbers.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { NUMBERS, year } from './numbers.ts';

const MONTHS = 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' ');
const DEVANAGARI_ZERO = 0x0966;

const FIRST: readonly Rule[] = [
  {
    pattern: /[०-९]/gu,
    speak: ([digit]) => String((digit.codePointAt(0) ?? 0) - DEVANAGARI_ZERO),
  },
  {
    pattern:
      /(?<![\p{L}\p{M}\p{N}.,])([0-9]{1,4})(?:(?:वाँ|वां|ला|रा|था|ठा)|(वीं|वी|ली|री|थी|ठी)|(?:वें|ले|रे|थे|ठे))(?![\p{L}\p{M}])/gu,
    speak([written, digits, feminine]) {
      const name = NUMBERS.ordinal(Number(digits), feminine === undefined ? 'm' : 'f');
      return /(?:े|ें)$/u.test(written) ? name?.replace(/ाँ$/u, 'ें').replace(/ा$/u, 'े') : name;
    },
  },
  {
    // A mobile number has ten digits.
    pattern: /(?<!\+91[ -]?)(?<![\p{L}\p{M}\p{N}.,+-])[6-9][0-9]{4} ?[0-9]{5}(?![\p{L}\p{M}\p{N}])/gu,
    speak: ([written]) =>
      (written.replace(' ', '').match(/[0-9]{5}/g) ?? [])
        .map((group) => [...group].map((digit) => NUMBERS.cardinal(Number(digit))).join(' '))
        .join(', '),
  },
  {
    // A number that is read digit by digit.
    pattern:
      /(?<=(?:पिन कोड|पिनकोड|पिन|ओटीपी|OTP|PIN|पासवर्ड|कोड)(?: (?:नंबर|है))?:? )[0-9]{4,8}(?![\p{L}\p{M}\p{N}]|[.,][0-9])/gu,
    speak: ([digits]) => digitByDigit(digits, NUMBERS),
  },
  {
    // The result of a game.
    pattern: /(?<![\p{L}\p{M}\p{N}.,-])([0-9]{1,2})-([0-9]{1,2})(?= से (?:जीत|हार|हरा|पराजित|बराबर))/gu,
    speak: ([, ours, theirs]) => `${NUMBERS.cardinal(Number(ours))} ${NUMBERS.cardinal(Number(theirs))}`,
  },
  { pattern: /(?<=[0-9]:[0-9]{2}) ?[-–] ?(?=[0-9]{1,2}:[0-9]{2}(?![0-9:]))/gu, speak: () => ' से ' },
  {
    pattern:
      /(?<![\p{L}\p{M}\p{N}.,:])([0-9]{1,2}):([0-5][0-9]) ?बजे(?: (?!(?:है|हैं|हुए|हो|था|थे|से|तक|के|की|पर|और|या)(?![\p{L}\p{M}]))(?=\p{L}))?/gu,
    speak([written, hour, minute]) {
      const clock = clockTime(Number(hour), Number(minute));
      if (clock !== undefined) return written.endsWith(' ') ? `${clock} ` : clock;
      if (Number(hour) > 24 || minute === '00') return undefined;
      const read = `${NUMBERS.cardinal(Number(hour))} बजकर ${NUMBERS.cardinal(Number(minute))} मिनट`;
      return written.endsWith(' ') ? `${read} पर ` : read;
    },
  },
  {
    // Years between 1100 and 1999, and numbers alike, are counted in hundreds.
    pattern:
      /(?<![\p{L}\p{M}\p{N}.,+-])(1[1-9][0-9]{2})(?:[-–]([12][0-9]{3}))?(?= (?:में|से|तक|के दशक|ई\.|ईस्वी)(?![\p{L}\p{M}]))/gu,
    speak: ([, from, to]) => year(Number(from)) + (to === undefined ? '' : ` से ${year(Number(to))}`),
  },
  {
    // A year after "सन" or after a month.
    pattern:
      /(?<=(?:सन|सन्|वर्ष|साल|जनवरी|फ़रवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर),? )(1[1-9][0-9]{2})(?![0-9]|[.,:/][0-9])/gu,
    speak: ([digits]) => year(Number(digits)),
  },
];

function fraction(numerator: number, denominator: number): string {
  if (denominator === 2 && numerator === 1) return 'आधा';
  if (denominator === 4 && numerator === 1) return 'एक चौथाई';
  if (denominator === 4 && numerator === 3) return 'तीन चौथाई';
  if (denominator === 3 && numerator < 3) return `${NUMBERS.cardinal(numerator)} तिहाई`;
  return `${NUMBERS.cardinal(numerator)} बटा ${NUMBERS.cardinal(denominator)}`;
}

/** A number with one to three quarters: डेढ़ is 1 1/2, पौने तीन is 2 3/4. */
function quarters(whole: number, count: number): string | undefined {
  if (whole < 1) return undefined;
  if (count === 1) return `सवा ${NUMBERS.cardinal(whole)}`;
  if (count === 2) return whole === 1 ? 'डेढ़' : whole === 2 ? 'ढाई' : `साढ़े ${NUMBERS.cardinal(whole)}`;
  return count === 3 ? `पौने ${NUMBERS.cardinal(whole + 1)}` : undefined;
}

/** A time at a quarter of an hour on the clock; undefined for others. */
function clockTime(hour: number, minute: number): string | undefined {
  if (hour < 1 || hour > 12 || minute === 0 || minute % 15 !== 0) return undefined;
  const isBeforeOne = hour === 12 && minute === 45;
  const read = isBeforeOne ? 'पौन' : quarters(hour, minute / 15);
  return read === undefined ? undefined : `${read} बजे`;
}

export const TABLES: LanguageTables = {
  format: { decimalMark: '.', hasPairs: true },
  numbers: NUMBERS,
  readsShortFractions: false,
  isSingular: ({ whole, fraction }) => whole === '1' && fraction === undefined,
  words: {
    point: 'दशमलव',
    minus: 'माइनस',
    plus: 'प्लस',
    equals: 'बराबर',
    times: 'गुणा',
    by: 'बाई',
    dividedBy: 'भागा',
    percent: 'प्रतिशत',
    perMille: 'प्रति हज़ार',
    outOf: 'बटा',
    to: 'से',
    and: 'और',
    at: 'ऐट',
    dot: 'डॉट',
    slash: 'स्लैश',
    dash: 'डैश',
    underscore: 'अंडरस्कोर',
    colon: 'कोलन',
    www: 'डब्ल्यू डब्ल्यू डब्ल्यू',
    hash: 'हैश',
    degrees: 'डिग्री',
  },
  currencies: [
    { signs: ['₹', 'INR', 'रु.', 'रू.', 'Rs.', 'रु', 'रू', 'Rs'], name: ['रुपया', 'रुपये'], cent: ['पैसा', 'पैसे'] },
    { signs: ['$', 'US$', 'USD'], name: ['डॉलर', 'डॉलर'], cent: ['सेंट', 'सेंट'] },
    { signs: ['€', 'EUR'], name: ['यूरो', 'यूरो'], cent: ['सेंट', 'सेंट'] },
    { signs: ['£', 'GBP'], name: ['पाउंड', 'पाउंड'], cent: ['पेंस', 'पेंस'] },
    { signs: ['¥', 'JPY'], name: ['येन', 'येन'] },
  ],
  cents: { joiner: '' },
  scales: ['हज़ार', 'हजार', 'लाख', 'करोड़', 'अरब', 'लाख करोड़', 'हज़ार करोड़', 'हजार करोड़'],
  ofAfterScale: (counted) => counted,
  units: {
    dB: ['डेसिबल', 'डेसिबल'],
    mAh: ['मिलीएम्पियर आवर', 'मिलीएम्पियर आवर'],
    kbps: ['किलोबिट प्रति सेकंड', 'किलोबिट प्रति सेकंड'],
    Mbps: ['मेगाबिट प्रति सेकंड', 'मेगाबिट प्रति सेकंड'],
    Gbps: ['गीगाबिट प्रति सेकंड', 'गीगाबिट प्रति सेकंड'],
    kcal: ['किलोकैलोरी', 'किलोकैलोरी'],
    'cm²': ['वर्ग सेंटीमीटर', 'वर्ग सेंटीमीटर'],
    'cm³': ['घन सेंटीमीटर', 'घन सेंटीमीटर'],
    'm/s²': ['मीटर प्रति वर्ग सेकंड', 'मीटर प्रति वर्ग सेकंड'],
    kHz: ['किलोहर्ट्ज़', 'किलोहर्ट्ज़'],
    MW: ['मेगावाट', 'मेगावाट'],
    px: ['पिक्सेल', 'पिक्सेल'],
    km: ['किलोमीटर', 'किलोमीटर'],
    'कि.मी.': ['किलोमीटर', 'किलोमीटर'],
    किमी: ['किलोमीटर', 'किलोमीटर'],
    m: ['मीटर', 'मीटर'],
    'मी.': ['मीटर', 'मीटर'],
    cm: ['सेंटीमीटर', 'सेंटीमीटर'],
    'से.मी.': ['सेंटीमीटर', 'सेंटीमीटर'],
    mm: ['मिलीमीटर', 'मिलीमीटर'],
    'km²': ['वर्ग किलोमीटर', 'वर्ग किलोमीटर'],
    'm²': ['वर्ग मीटर', 'वर्ग मीटर'],
    'm³': ['घन मीटर', 'घन मीटर'],
    'km/h': ['किलोमीटर प्रति घंटा', 'किलोमीटर प्रति घंटा'],
    'किमी/घंटा': ['किलोमीटर प्रति घंटा', 'किलोमीटर प्रति घंटा'],
    kg: ['किलोग्राम', 'किलोग्राम'],
    किग्रा: ['किलोग्राम', 'किलोग्राम'],
    'कि.ग्रा.': ['किलोग्राम', 'किलोग्राम'],
    g: ['ग्राम', 'ग्राम'],
    mg: ['मिलीग्राम', 'मिलीग्राम'],
    l: ['लीटर', 'लीटर'],
    L: ['लीटर', 'लीटर'],
    ml: ['मिलीलीटर', 'मिलीलीटर'],
    h: ['घंटा', 'घंटे'],
    min: ['मिनट', 'मिनट'],
    s: ['सेकंड', 'सेकंड'],
    '°C': ['डिग्री सेल्सियस', 'डिग्री सेल्सियस'],
    '°F': ['डिग्री फ़ारेनहाइट', 'डिग्री फ़ारेनहाइट'],
    '°': ['डिग्री', 'डिग्री'],
    W: ['वाट', 'वाट'],
    kW: ['किलोवाट', 'किलोवाट'],
    V: ['वोल्ट', 'वोल्ट'],
    Hz: ['हर्ट्ज़', 'हर्ट्ज़'],
    MB: ['मेगाबाइट', 'मेगाबाइट'],
    GB: ['गीगाबाइट', 'गीगाबाइट'],
    TB: ['टेराबाइट', 'टेराबाइट'],
  },
  per: (name) => `प्रति ${name}`,
  months: MONTHS,
  date: (day, month, written) =>
    `${NUMBERS.cardinal(day)} ${month}${written === undefined ? '' : ` ${year(Number(written))}`}`,
  time(hour, minute, second) {
    const hours = NUMBERS.cardinal(hour);
    if (second !== undefined) {
      return `${hours} घंटे ${NUMBERS.cardinal(minute)} मिनट ${NUMBERS.cardinal(second)} सेकंड`;
    }
    const clock = clockTime(hour, minute);
    if (clock !== undefined) return clock;
    return minute === 0 ? `${hours} बजे` : `${hours} बजकर ${NUMBERS.cardinal(minute)} मिनट`;
  },
  dayHalves: { बजे: '' },
  fraction,
  mixed: (whole, numerator, denominator) =>
    (denominator === 2 || denominator === 4 ? quarters(whole, (4 * numerator) / denominator) : undefined) ??
    `${NUMBERS.cardinal(whole)} सही ${fraction(numerator, denominator)}`,
  abbreviations: {
    'डॉ.': 'डॉक्टर',
    'डा.': 'डॉक्टर',
    'प्रो.': 'प्रोफ़ेसर',
    'श्री.': 'श्री',
    'पं.': 'पंडित',
    'स्व.': 'स्वर्गीय',
    'कु.': 'कुमारी',
    'मो.': 'मोहम्मद',
    'ई.': 'ईस्वी',
    'ई.पू.': 'ईसा पूर्व',
    'क्र.': 'क्रमांक',
    'नं.': 'नंबर',
    'पृ.': 'पृष्ठ',
    'उदा.': 'उदाहरण',
  },
  versionWords: ['संस्करण', 'वर्ज़न', 'वर्जन', 'खंड', 'अध्याय'],
  genderBefore: () => 'bare',
  first: FIRST,
};

export const RULES: readonly Rule[] = languageRules(TABLES);
