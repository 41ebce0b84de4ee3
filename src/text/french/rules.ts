/** What French text has besides words (Imprimerie nationale, Lexique des règles typographiques). */

import { type LanguageTables, languageRules, romanNumerals, romanValue } from '../rules/language-rules.ts';
import { type Gender, thousands } from '../rules/numbers.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { NUMBERS } from './numbers.ts';

const MONTHS = 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(
  ' ',
);
const FRACTIONS: Readonly<Record<number, readonly [string, string]>> = {
  2: ['demi', 'demis'],
  3: ['tiers', 'tiers'],
  4: ['quart', 'quarts'],
};
/** Endings of feminine nouns. */
const FEMININE_ENDINGS = /(?:[st]ions?|ées?|ures?|ettes?|ances?|ences?|aines?|euses?|ités?|elles?|ines?)$/;
/** Feminine nouns with other endings, in the singular. */
const FEMININE: ReadonlySet<string> = new Set(
  (
    'personne fois page heure minute seconde voiture femme fille table chaise pomme nuit place lettre voix œuvre carte route ville ' +
    'république guerre dynastie olympiade législature banque marque époque bibliothèque boutique promenade salade façade ' +
    'rue maison porte main mère sœur vie île usine équipe école église goutte pièce tonne livre tasse bouteille plante étoile ' +
    'note vache poule chèvre plage montagne forêt fleur image vidéo langue phrase règle clé'
  ).split(' '),
);

function genderBefore(word: string): Gender {
  return FEMININE_ENDINGS.test(word) || FEMININE.has(word) || FEMININE.has(word.replace(/s$/, ''))
    ? 'f'
    : 'bare';
}

const FIRST: readonly Rule[] = [
  { pattern: /(?<=(?<!\p{L})[IVX]{1,6})e s\./gu, speak: () => 'e siècle' },
  {
    pattern:
      /(?<![\p{L}\p{N}.,])(?:1(?:(er)|(?:re|ère))|2(?:(nd)|nde)|([0-9]{1,4})(?:e|[eè]me|ième))(s?)(?![\p{L}\p{N}])/giu,
    speak([written, first, second, digits, plural]) {
      const name =
        digits !== undefined
          ? NUMBERS.ordinal(Number(digits), 'm')
          : written.startsWith('1')
            ? NUMBERS.ordinal(1, first === undefined ? 'f' : 'm')
            : second === undefined
              ? 'seconde'
              : 'second';
      return name === undefined ? undefined : `${name}${plural}`;
    },
  },
  {
    pattern:
      /(?<![\p{L}\p{N}.,])1(?= (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)(?!\p{L}))/giu,
    speak: () => 'premier',
  },
  {
    // Not "Le siècle" and "Ce siècle".
    pattern:
      /(?<![\p{L}\p{N}])(?:(?![LC]e)([IVXLC]{1,8})(?:e|ème|er)(?= (\p{L}{4,20})(?!\p{L}))|([IVXL]{1,8})(?:E|ÈME|ER)(?= SIÈCLES?(?!\p{L})))/gu,
    speak([, numeral, noun = '', ofCentury = '']) {
      const value = romanValue(numeral ?? ofCentury);
      return value === undefined
        ? undefined
        : NUMBERS.ordinal(value, genderBefore(noun.toLowerCase()) === 'f' ? 'f' : 'm');
    },
  },
  {
    pattern:
      /(?<!\p{L})(Louis|Charles|Henri|François|Napoléon|Philippe|Jean-Paul|Benoît|chapitre|tome|volume|acte) ([IVXLC]{1,8})(er)?(?![\p{L}\p{N}])/gu,
    speak([, name, numeral = '', first]) {
      const value = romanValue(numeral);
      if (value === undefined) return undefined;
      return `${name} ${first === undefined ? NUMBERS.cardinal(value) : 'premier'}`;
    },
  },
  {
    // A national phone number is read in pairs.
    pattern: /(?<![\p{L}\p{N}.,])0[1-9](?:[ .-][0-9]{2}){4}(?![\p{L}\p{N}])/gu,
    speak: ([written]) =>
      written
        .split(/[ .-]/)
        .map((pair) =>
          pair.startsWith('0') ? `zéro ${NUMBERS.cardinal(Number(pair))}` : NUMBERS.cardinal(Number(pair)),
        )
        .join(', '),
  },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,4}) ?€ ?([0-9]{2})(?![\p{L}\p{N}]|[.,][0-9])/gu,
    speak: ([, euros, cents]) => `${euros},${cents} €`,
  },
  { pattern: /(?<!\p{L})p\. ?(?=[0-9])/gu, speak: () => 'page ' },
  { pattern: /(?<![\p{L}\p{N}.,])1\/2[ -]heure(?!\p{L})/gu, speak: () => 'une demi-heure' },
  {
    pattern: /(?<=(?<![\p{L}\p{N}.,])[0-9]{1,3})x(?= (?:par|sans|plus|moins|de)(?!\p{L}))/gu,
    speak: () => ' fois',
  },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3}(?:,[0-9]{1,3})?) ?k(?=€)/gu,
    speak: ([, written = '']) => `${thousands(written)} `,
  },
  {
    // 1,5 M€, 12 Md€.
    pattern: /(?<=(?<![\p{L}\p{N}.,])([0-9]{1,4})(?:,[0-9]{1,3})?) ?(M|Mds?|Mrd)(?=[€$])/gu,
    speak: ([, whole, scale]) => ` ${scale === 'M' ? 'million' : 'milliard'}${Number(whole) < 2 ? '' : 's'} `,
  },
  {
    // Open all day and every day.
    pattern: /(?<![\p{L}\p{N}])24 ?h(?:eures)? ?\/ ?24(?![\p{L}\p{N}])/giu,
    speak: () => 'vingt-quatre heures sur vingt-quatre',
  },
  {
    pattern: /(?<![\p{L}\p{N}])7 ?j(?:ours)? ?\/ ?7(?![\p{L}\p{N}])/giu,
    speak: () => 'sept jours sur sept',
  },
  { pattern: /(?<!\p{L})[nN]\.?(?:°|º|o) ?(?=[0-9])/gu, speak: () => 'numéro ' },
  ...romanNumerals({ numbers: NUMBERS, genderBefore }),
];

function fraction(numerator: number, denominator: number): string {
  const names = FRACTIONS[denominator];
  if (names !== undefined)
    return `${NUMBERS.cardinal(numerator, 'm')} ${numerator === 1 ? names[0] : names[1]}`;
  // Also a grade of 20.
  if (denominator >= 20 || numerator === denominator)
    return `${NUMBERS.cardinal(numerator)} sur ${NUMBERS.cardinal(denominator)}`;
  return `${NUMBERS.cardinal(numerator, 'm')} ${NUMBERS.ordinal(denominator, 'm')}${numerator === 1 ? '' : 's'}`;
}

export const TABLES: LanguageTables = {
  format: { decimalMark: ',' },
  numbers: NUMBERS,
  readsShortFractions: true,
  isSingular: ({ whole }) => Number(whole) < 2,
  words: {
    point: 'virgule',
    minus: 'moins',
    plus: 'plus',
    equals: 'égale',
    times: 'fois',
    by: 'sur',
    dividedBy: 'divisé par',
    percent: 'pour cent',
    perMille: 'pour mille',
    outOf: 'sur',
    to: 'à',
    and: 'et',
    at: 'arobase',
    dot: 'point',
    slash: 'barre oblique',
    dash: 'tiret',
    underscore: 'tiret bas',
    colon: 'deux-points',
    www: 'trois double vé',
    hash: 'dièse',
    degrees: 'degrés',
  },
  currencies: [
    { signs: ['€', 'EUR'], name: ['euro', 'euros'], cent: ['centime', 'centimes'] },
    { signs: ['$', 'US$', 'USD'], name: ['dollar', 'dollars'], cent: ['cent', 'cents'] },
    { signs: ['£', 'GBP'], name: ['livre', 'livres', 'f'], cent: ['penny', 'pence'] },
    { signs: ['CHF'], name: ['franc suisse', 'francs suisses'], cent: ['centime', 'centimes'] },
    { signs: ['¥', 'JPY'], name: ['yen', 'yens'] },
  ],
  cents: { joiner: '', isShort: true },
  scales: ['mille', 'million', 'millions', 'milliard', 'milliards', 'billion', 'billions'],
  ofAfterScale(counted, scale) {
    if (scale === 'mille') return counted;
    return /^[aeiouy]/.test(counted) && !counted.startsWith('yen') ? `d'${counted}` : `de ${counted}`;
  },
  units: {
    dB: ['décibel', 'décibels'],
    mAh: ['milliampère-heure', 'milliampères-heure'],
    kbps: ['kilobit par seconde', 'kilobits par seconde'],
    Mbps: ['mégabit par seconde', 'mégabits par seconde'],
    Gbps: ['gigabit par seconde', 'gigabits par seconde'],
    kcal: ['kilocalorie', 'kilocalories', 'f'],
    'cm²': ['centimètre carré', 'centimètres carrés'],
    'cm³': ['centimètre cube', 'centimètres cubes'],
    'm/s²': ['mètre par seconde carrée', 'mètres par seconde carrée'],
    kHz: ['kilohertz', 'kilohertz'],
    MW: ['mégawatt', 'mégawatts'],
    px: ['pixel', 'pixels'],
    km: ['kilomètre', 'kilomètres'],
    m: ['mètre', 'mètres'],
    cm: ['centimètre', 'centimètres'],
    mm: ['millimètre', 'millimètres'],
    'km²': ['kilomètre carré', 'kilomètres carrés'],
    'm²': ['mètre carré', 'mètres carrés'],
    m2: ['mètre carré', 'mètres carrés'],
    'm³': ['mètre cube', 'mètres cubes'],
    'km/h': ["kilomètre à l'heure", "kilomètres à l'heure"],
    'm/s': ['mètre par seconde', 'mètres par seconde'],
    kg: ['kilogramme', 'kilogrammes'],
    g: ['gramme', 'grammes'],
    mg: ['milligramme', 'milligrammes'],
    t: ['tonne', 'tonnes', 'f'],
    l: ['litre', 'litres'],
    L: ['litre', 'litres'],
    cl: ['centilitre', 'centilitres'],
    ml: ['millilitre', 'millilitres'],
    ha: ['hectare', 'hectares'],
    h: ['heure', 'heures', 'f'],
    min: ['minute', 'minutes', 'f'],
    s: ['seconde', 'secondes', 'f'],
    ms: ['milliseconde', 'millisecondes', 'f'],
    '°C': ['degré Celsius', 'degrés Celsius'],
    ºC: ['degré Celsius', 'degrés Celsius'],
    '°F': ['degré Fahrenheit', 'degrés Fahrenheit'],
    '°': ['degré', 'degrés'],
    W: ['watt', 'watts'],
    kW: ['kilowatt', 'kilowatts'],
    kWh: ['kilowattheure', 'kilowattheures'],
    V: ['volt', 'volts'],
    Hz: ['hertz', 'hertz'],
    MHz: ['mégahertz', 'mégahertz'],
    GHz: ['gigahertz', 'gigahertz'],
    Ko: ['kilooctet', 'kilooctets'],
    Mo: ['mégaoctet', 'mégaoctets'],
    Go: ['gigaoctet', 'gigaoctets'],
    To: ['téraoctet', 'téraoctets'],
    GB: ['gigaoctet', 'gigaoctets'],
    MB: ['mégaoctet', 'mégaoctets'],
  },
  per: (name) => `par ${name}`,
  months: MONTHS,
  date: (day, month, year) =>
    `${day === 1 ? 'premier' : NUMBERS.cardinal(day)} ${month}${year === undefined ? '' : ` ${NUMBERS.cardinal(Number(year))}`}`,
  time(hour, minute, second) {
    const hours = `${NUMBERS.cardinal(hour, 'f')} ${hour < 2 ? 'heure' : 'heures'}`;
    if (second === undefined) return minute === 0 ? hours : `${hours} ${NUMBERS.cardinal(minute, 'f')}`;
    return `${hours}, ${NUMBERS.cardinal(minute, 'f')} ${minute < 2 ? 'minute' : 'minutes'} et ${NUMBERS.cardinal(second, 'f')} ${second < 2 ? 'seconde' : 'secondes'}`;
  },
  dayHalves: { am: 'du matin', pm: "de l'après-midi" },
  fraction,
  mixed: (whole, numerator, denominator) =>
    `${NUMBERS.cardinal(whole, 'm')} et ${numerator === 1 && denominator === 2 ? 'demi' : fraction(numerator, denominator)}`,
  abbreviations: {
    'M. et Mme': 'monsieur et madame',
    'M. ou Mme': 'monsieur ou madame',
    'M.': 'monsieur',
    MM: 'messieurs',
    'MM.': 'messieurs',
    Mme: 'madame',
    'Mme.': 'madame',
    'Mlle.': 'mademoiselle',
    'art.': 'article',
    'éd.': 'édition',
    Mmes: 'mesdames',
    Mlle: 'mademoiselle',
    Dr: 'docteur',
    'Dr.': 'docteur',
    Pr: 'professeur',
    Me: 'maître',
    St: 'saint',
    Ste: 'sainte',
    'etc.': 'et cetera',
    'p. ex.': 'par exemple',
    'p.ex.': 'par exemple',
    'c.-à-d.': "c'est-à-dire",
    'env.': 'environ',
    'tél.': 'téléphone',
    'Tél.': 'téléphone',
    bd: 'boulevard',
    Bd: 'boulevard',
    'av.': 'avenue',
    'av. J.-C.': 'avant Jésus-Christ',
    'apr. J.-C.': 'après Jésus-Christ',
    'vol.': 'volume',
    'chap.': 'chapitre',
    vs: 'contre',
  },
  exactAbbreviations: new Set(['Me', 'St', 'Ste', 'Pr', 'MM']),
  versionWords: ['version', 'versions', 'section', 'chapitre', 'article', 'paragraphe'],
  genderBefore,
  first: FIRST,
};

export const RULES: readonly Rule[] = languageRules(TABLES);
