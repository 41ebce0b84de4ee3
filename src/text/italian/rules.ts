/** What Italian text has besides words. */

import { type LanguageTables, languageRules, romanNumerals, romanValue } from '../rules/language-rules.ts';
import { digitByDigit, type Gender, thousands } from '../rules/numbers.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { NUMBERS } from './numbers.ts';

const MONTHS =
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'.split(' ');
const FRACTIONS: Readonly<Record<number, readonly [string, string]>> = {
  2: ['mezzo', 'mezzi'],
  3: ['terzo', 'terzi'],
  4: ['quarto', 'quarti'],
  5: ['quinto', 'quinti'],
  6: ['sesto', 'sesti'],
  7: ['settimo', 'settimi'],
  8: ['ottavo', 'ottavi'],
  9: ['nono', 'noni'],
  10: ['decimo', 'decimi'],
};
/** Words after a number that it does not count. */
const NOT_COUNTED: ReadonlySet<string> = new Set(
  'a al alla alle anche che come con da dal dalla del della di e ed è era fa fu ha in la le lo ma nel nella o per più se sono su tra fra'.split(
    ' ',
  ),
);

function genderBefore(word: string): Gender {
  return NOT_COUNTED.has(word) ? 'bare' : /a$/.test(word) ? 'f' : 'm';
}

const FIRST: readonly Rule[] = [
  {
    pattern:
      /(?<![\p{L}\p{N}.,])([0-9]{1,4})(?:(ª)|º(?! ?[CF](?!\p{L}))|°(?! ?[CF]\b|[0-9]))(?! ?[CF](?!\p{L}))/gu,
    speak: ([, digits, feminine]) => NUMBERS.ordinal(Number(digits), feminine === undefined ? 'm' : 'f'),
  },
  {
    pattern:
      /(?<![\p{L}\p{N}.,])1(?= (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)(?!\p{L}))/giu,
    speak: () => 'primo',
  },
  {
    pattern: /(?<![\p{L}\p{N}])([IVXLC]{1,8}) (secolo|edizione|Olimpiade|legislatura)(?!\p{L})/gu,
    speak([, numeral = '', noun = '']) {
      const value = romanValue(numeral);
      return value === undefined
        ? undefined
        : `${NUMBERS.ordinal(value, noun === 'secolo' ? 'm' : 'f')} ${noun}`;
    },
  },
  {
    pattern:
      /(?<!\p{L})(secolo|capitolo|tomo|volume|atto|Papa|papa|re|Vittorio Emanuele|Luigi|Carlo|Enrico|Giovanni Paolo|Benedetto|Pio|Elisabetta|Caterina|Margherita) ([IVXLC]{1,8})(?![\p{L}\p{N}])/gu,
    speak([, name, numeral = '']) {
      const value = romanValue(numeral);
      const gender = /^(?:Elisabetta|Caterina|Margherita)$/.test(name ?? '') ? 'f' : 'm';
      return value === undefined ? undefined : `${name} ${NUMBERS.ordinal(value, gender)}`;
    },
  },
  { pattern: /(?<!\p{L})[nN](?:\.|°|º) ?(?=[0-9])/gu, speak: () => 'numero ' },
  {
    // A time with a dot.
    pattern:
      /(?<=(?<!\p{L})(?:alle|ore|dalle|le|alle ore) )([01]?[0-9]|2[0-4])\.([0-5][0-9])(?![0-9]|[.,:][0-9]| ?[€%])/giu,
    speak: ([, hour = '', minute = '']) => `${hour}:${minute}`,
  },
  {
    // A mobile number without groups.
    pattern: /(?<![\p{L}\p{N}.,+-])3[0-9]{2}[ .-]?[0-9]{6,7}(?![\p{L}\p{N}]|[.,][0-9])/gu,
    speak: ([written]) => {
      const digits = written.replace(/[ .-]/g, '');
      return `${digitByDigit(digits.slice(0, 3), NUMBERS)}, ${digitByDigit(digits.slice(3), NUMBERS)}`;
    },
  },
  { pattern: /(?<=[0-9]) ?(?:mln|Mln)\.?(?![\p{L}\p{N}])/gu, speak: () => ' milioni' },
  { pattern: /(?<=[0-9]) ?(?:mld|Mld)\.?(?![\p{L}\p{N}])/gu, speak: () => ' miliardi' },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3}(?:,[0-9]{1,3})?) ?k(?=€)/gu,
    speak: ([, written = '']) => `${thousands(written)} `,
  },
  { pattern: /(?<!\p{L})km (?=[0-9]{1,4}(?![\p{L}\p{N}]))/gu, speak: () => 'chilometro ' },
  // The forms of "uno" before some sounds.
  { pattern: /(?<![\p{L}\p{N}.,])1 (?=[aeiou]\p{L}*a(?!\p{L}))/gu, speak: () => "un'" },
  {
    pattern: /(?<![\p{L}\p{N}.,])1(?= (?:s[^aeiouh\s]|z|gn|ps|pn|x|y)\p{L}*[oei](?!\p{L}))/gu,
    speak: () => 'uno',
  },
  ...romanNumerals({ numbers: NUMBERS, genderBefore }),
];

function fraction(numerator: number, denominator: number): string {
  const names = FRACTIONS[denominator];
  if (names === undefined) return `${NUMBERS.cardinal(numerator)} su ${NUMBERS.cardinal(denominator)}`;
  return `${NUMBERS.cardinal(numerator, 'm')} ${numerator === 1 ? names[0] : names[1]}`;
}

export const TABLES: LanguageTables = {
  format: { decimalMark: ',' },
  numbers: NUMBERS,
  readsShortFractions: true,
  isSingular: ({ whole, fraction }) => whole === '1' && fraction === undefined,
  words: {
    point: 'virgola',
    minus: 'meno',
    plus: 'più',
    equals: 'uguale',
    times: 'per',
    by: 'per',
    dividedBy: 'diviso',
    percent: 'per cento',
    perMille: 'per mille',
    outOf: 'su',
    to: 'a',
    and: 'e',
    at: 'chiocciola',
    dot: 'punto',
    slash: 'barra',
    dash: 'trattino',
    underscore: 'trattino basso',
    colon: 'due punti',
    www: 'vu vu vu',
    hash: 'cancelletto',
    degrees: 'gradi',
  },
  currencies: [
    { signs: ['€', 'EUR'], name: ['euro', 'euro'], cent: ['centesimo', 'centesimi'] },
    { signs: ['$', 'US$', 'USD'], name: ['dollaro', 'dollari'], cent: ['centesimo', 'centesimi'] },
    { signs: ['£', 'GBP'], name: ['sterlina', 'sterline', 'f'], cent: ['penny', 'pence'] },
    { signs: ['CHF'], name: ['franco svizzero', 'franchi svizzeri'], cent: ['centesimo', 'centesimi'] },
    { signs: ['¥', 'JPY'], name: ['yen', 'yen'] },
  ],
  cents: { joiner: 'e' },
  scales: ['milione', 'milioni', 'miliardo', 'miliardi', 'bilione', 'bilioni'],
  ofAfterScale: (counted) => `di ${counted}`,
  units: {
    dB: ['decibel', 'decibel'],
    mAh: ['milliampere ora', 'milliampere ora'],
    kbps: ['kilobit al secondo', 'kilobit al secondo'],
    Mbps: ['megabit al secondo', 'megabit al secondo'],
    Gbps: ['gigabit al secondo', 'gigabit al secondo'],
    kcal: ['chilocaloria', 'chilocalorie', 'f'],
    'cm²': ['centimetro quadrato', 'centimetri quadrati'],
    'cm³': ['centimetro cubo', 'centimetri cubi'],
    'm/s²': ['metro al secondo quadrato', 'metri al secondo quadrato'],
    kHz: ['kilohertz', 'kilohertz'],
    MW: ['megawatt', 'megawatt'],
    px: ['pixel', 'pixel'],
    km: ['chilometro', 'chilometri'],
    m: ['metro', 'metri'],
    cm: ['centimetro', 'centimetri'],
    mm: ['millimetro', 'millimetri'],
    'km²': ['chilometro quadrato', 'chilometri quadrati'],
    'm²': ['metro quadrato', 'metri quadrati'],
    mq: ['metro quadrato', 'metri quadrati'],
    m2: ['metro quadrato', 'metri quadrati'],
    'm³': ['metro cubo', 'metri cubi'],
    'km/h': ['chilometro orario', 'chilometri orari'],
    'm/s': ['metro al secondo', 'metri al secondo'],
    kg: ['chilogrammo', 'chilogrammi'],
    g: ['grammo', 'grammi'],
    mg: ['milligrammo', 'milligrammi'],
    hg: ['etto', 'etti'],
    l: ['litro', 'litri'],
    L: ['litro', 'litri'],
    cl: ['centilitro', 'centilitri'],
    ml: ['millilitro', 'millilitri'],
    ha: ['ettaro', 'ettari'],
    h: ['ora', 'ore', 'f'],
    min: ['minuto', 'minuti'],
    s: ['secondo', 'secondi'],
    ms: ['millisecondo', 'millisecondi'],
    '°C': ['grado Celsius', 'gradi Celsius'],
    ºC: ['grado Celsius', 'gradi Celsius'],
    '°F': ['grado Fahrenheit', 'gradi Fahrenheit'],
    '°': ['grado', 'gradi'],
    W: ['watt', 'watt'],
    kW: ['chilowatt', 'chilowatt'],
    kWh: ['chilowattora', 'chilowattora'],
    V: ['volt', 'volt'],
    Hz: ['hertz', 'hertz'],
    MHz: ['megahertz', 'megahertz'],
    GHz: ['gigahertz', 'gigahertz'],
    KB: ['kilobyte', 'kilobyte'],
    MB: ['megabyte', 'megabyte'],
    GB: ['gigabyte', 'gigabyte'],
    TB: ['terabyte', 'terabyte'],
  },
  per(name, gender) {
    const isFeminine =
      gender === 'f' ||
      /^(?:settimana|notte|persona|pagina|ora|volta|testa|confezione|bottiglia)$/.test(name);
    if (/^[aeiou]/.test(name)) return `all'${name}`;
    return isFeminine ? `alla ${name}` : /^(?:s[^aeiou]|z)/.test(name) ? `allo ${name}` : `al ${name}`;
  },
  months: MONTHS,
  date: (day, month, year) =>
    `${day === 1 ? 'primo' : NUMBERS.cardinal(day)} ${month}${year === undefined ? '' : ` ${NUMBERS.cardinal(Number(year))}`}`,
  time(hour, minute, second) {
    const hours = hour === 1 ? 'una' : NUMBERS.cardinal(hour);
    if (second !== undefined) {
      return `${hours} ${hour === 1 ? 'ora' : 'ore'}, ${NUMBERS.cardinal(minute, 'm')} ${minute === 1 ? 'minuto' : 'minuti'} e ${NUMBERS.cardinal(second, 'm')} ${second === 1 ? 'secondo' : 'secondi'}`;
    }
    return minute === 0 ? hours : `${hours} e ${NUMBERS.cardinal(minute)}`;
  },
  dayHalves: { am: 'di mattina', pm: 'di pomeriggio' },
  fraction,
  mixed: (whole, numerator, denominator) =>
    `${NUMBERS.cardinal(whole)} e ${numerator === 1 && denominator === 2 ? 'mezzo' : fraction(numerator, denominator)}`,
  abbreviations: {
    'egr.': 'egregio',
    'art.': 'articolo',
    'artt.': 'articoli',
    'P.IVA': 'partita IVA',
    'sig.': 'signor',
    'sig.ra': 'signora',
    'sig.na': 'signorina',
    'sigg.': 'signori',
    'dott.': 'dottor',
    'dott.ssa': 'dottoressa',
    'dr.': 'dottor',
    'prof.': 'professor',
    'prof.ssa': 'professoressa',
    'ing.': 'ingegner',
    'avv.': 'avvocato',
    'arch.': 'architetto',
    'geom.': 'geometra',
    'on.': 'onorevole',
    'ecc.': 'eccetera',
    'etc.': 'eccetera',
    'p. es.': 'per esempio',
    'p.es.': 'per esempio',
    'es.': 'esempio',
    'pag.': 'pagina',
    'pagg.': 'pagine',
    'tel.': 'telefono',
    'cell.': 'cellulare',
    'c.a.': 'corrente anno',
    'a.C.': 'avanti Cristo',
    'd.C.': 'dopo Cristo',
    'S.p.A.': 'società per azioni',
    'S.r.l.': 'società a responsabilità limitata',
    'v.le': 'viale',
    'p.zza': 'piazza',
    'vs.': 'contro',
  },
  versionWords: ['versione', 'versioni', 'sezione', 'capitolo', 'articolo', 'paragrafo'],
  genderBefore,
  first: FIRST,
};

export const RULES: readonly Rule[] = languageRules(TABLES);
