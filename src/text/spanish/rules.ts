/** What Spanish text has besides words (RAE, Ortografía 2010). */

import { type LanguageTables, languageRules, romanNumerals, romanValue } from '../rules/language-rules.ts';
import { digitByDigit, type Gender, thousands } from '../rules/numbers.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { NUMBERS } from './numbers.ts';

const MONTHS =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');
const FRACTIONS: Readonly<Record<number, readonly [string, string]>> = {
  2: ['medio', 'medios'],
  3: ['tercio', 'tercios'],
  4: ['cuarto', 'cuartos'],
  5: ['quinto', 'quintos'],
  6: ['sexto', 'sextos'],
  7: ['séptimo', 'séptimos'],
  8: ['octavo', 'octavos'],
  9: ['noveno', 'novenos'],
  10: ['décimo', 'décimos'],
};

/** Words after a number that it does not count. */
const NOT_COUNTED: ReadonlySet<string> = new Set(
  'a al ante con de del desde e el en entre es está fue hasta la las lo los más me menos ni no o para pero por que se según si sin sobre son su u y ya igual coma punto'.split(
    ' ',
  ),
);

/** Masculine nouns in -a. */
const MASCULINE: ReadonlySet<string> = new Set(
  'día mediodía mapa planeta cometa tranvía sistema ecosistema programa problema tema lema idioma poema teorema esquema dilema drama diploma síntoma clima aroma fantasma pijama sofá papá'.split(
    ' ',
  ),
);

function genderBefore(word: string): Gender {
  if (NOT_COUNTED.has(word)) return 'bare';
  if (MASCULINE.has(word.replace(/s$/, ''))) return 'm';
  return /(?:as?|vez|veces|noches?|tardes?|ciones|ción|dad|dades)$/.test(word) ? 'f' : 'm';
}

const FIRST: readonly Rule[] = [
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3})(?:\.?([ºª])(?![CF](?!\p{L}))|\.°|°(?! ?[CF]\b|[0-9]))/gu,
    speak(match) {
      const [written, digits, sign] = match;
      const name = NUMBERS.ordinal(Number(digits), sign === 'ª' ? 'f' : 'm');
      const isJoined = /\p{L}/u.test(match.input.charAt(match.index + written.length));
      return name === undefined ? undefined : name + (isJoined ? ' ' : '');
    },
  },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3})\.([oa])(?!\p{L}|\.)/gu,
    speak: ([, digits, sign]) => NUMBERS.ordinal(Number(digits), sign === 'a' ? 'f' : 'm'),
  },
  {
    pattern:
      /(?<![\p{L}\p{N}])([0-9]{1,2})(?:\.?(er)|(?:ro|do|to|mo|vo|no)|(ra|da|ta|ma|va|na))(?![\p{L}\p{N}])/gu,
    speak: ([, digits, short, feminine]) => {
      const name = NUMBERS.ordinal(Number(digits), feminine === undefined ? 'm' : 'f');
      return short === undefined ? name : name?.replace(/(primer|tercer)o$/, '$1');
    },
  },
  {
    pattern:
      /(?<![\p{L}\p{N}.,])1(?= de (?:enero|febrero|marzo|abril|mayo|ju[ln]io|agosto|septiembre|octubre|noviembre|diciembre))/giu,
    speak: () => 'primero',
  },
  {
    pattern: /\b(siglos?|capítulo|tomo|volumen|acto|título) ([IVXLC]{1,8})(?![\p{L}\p{N}])/giu,
    speak([, noun, numeral = '']) {
      const value = romanValue(numeral.toUpperCase());
      return value === undefined ? undefined : `${noun} ${NUMBERS.cardinal(value)}`;
    },
  },
  {
    pattern:
      /\b((?:rey|reina|papa|Felipe|Carlos|Alfonso|Fernando|Isabel|Juan Pablo|Luis|Enrique|Benedicto)) ([IVX]{1,6})(?![\p{L}\p{N}])/gu,
    speak([, name, numeral = '']) {
      const value = romanValue(numeral);
      if (value === undefined) return undefined;
      return `${name} ${value <= 10 ? NUMBERS.ordinal(value, name === 'Isabel' ? 'f' : 'm') : NUMBERS.cardinal(value)}`;
    },
  },
  { pattern: /(?<!\p{L})p\. ?(?=[0-9])/gu, speak: () => 'página ' },
  { pattern: /(?<=[0-9]) ?(?:mill\.|M(?=€|\$))/gu, speak: () => ' millones ' },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3}(?:,[0-9]{1,3})?) ?k(?=€)/gu,
    speak: ([, written = '']) => `${thousands(written)} `,
  },
  {
    pattern: /(?<=(?<![\p{L}\p{N}.,])[0-9]{1,3})x(?= (?:más|menos|de|sin|al)(?!\p{L}))/gu,
    speak: () => ' veces',
  },
  {
    pattern: /(?<=(?<!\p{L})(?:tel\.|teléfono|móvil|fax)(?: es(?: el)?)?:? )[6-9][0-9]{8}(?![\p{L}\p{N}])/giu,
    speak: ([written]) =>
      (written.match(/[0-9]{3}/g) ?? []).map((group) => digitByDigit(group, NUMBERS)).join(', '),
  },
  { pattern: /(?<!\p{L})km (?=[0-9]{1,4}(?![\p{L}\p{N}]))/gu, speak: () => 'kilómetro ' },
  {
    pattern: /\b(?:n\.?º|n\.°|nº|N\.?º|núm\.) ?(?=[0-9])/gu,
    speak: () => 'número ',
  },
  ...romanNumerals({ numbers: NUMBERS, genderBefore }),
];

function fraction(numerator: number, denominator: number): string {
  const names = FRACTIONS[denominator];
  if (names === undefined) return `${NUMBERS.cardinal(numerator)} sobre ${NUMBERS.cardinal(denominator)}`;
  return `${NUMBERS.cardinal(numerator, 'm')} ${numerator === 1 ? names[0] : names[1]}`;
}

export const TABLES: LanguageTables = {
  format: { decimalMark: ',' },
  numbers: NUMBERS,
  readsShortFractions: true,
  isSingular: ({ whole, fraction }) => whole === '1' && fraction === undefined,
  words: {
    point: 'coma',
    minus: 'menos',
    plus: 'más',
    equals: 'igual a',
    times: 'por',
    by: 'por',
    dividedBy: 'entre',
    percent: 'por ciento',
    perMille: 'por mil',
    outOf: 'sobre',
    to: 'a',
    and: 'y',
    at: 'arroba',
    dot: 'punto',
    slash: 'barra',
    dash: 'guion',
    underscore: 'guion bajo',
    colon: 'dos puntos',
    www: 'triple uve doble',
    hash: 'almohadilla',
    degrees: 'grados',
  },
  currencies: [
    { signs: ['€', 'EUR'], name: ['euro', 'euros'], cent: ['céntimo', 'céntimos'] },
    { signs: ['$', 'US$', 'USD'], name: ['dólar', 'dólares'], cent: ['centavo', 'centavos'] },
    { signs: ['£', 'GBP'], name: ['libra', 'libras', 'f'], cent: ['penique', 'peniques'] },
    { signs: ['MXN'], name: ['peso mexicano', 'pesos mexicanos'], cent: ['centavo', 'centavos'] },
    { signs: ['¥', 'JPY'], name: ['yen', 'yenes'] },
    { signs: ['CHF'], name: ['franco suizo', 'francos suizos'], cent: ['céntimo', 'céntimos'] },
  ],
  cents: { joiner: 'con' },
  scales: ['mil', 'millón', 'millones', 'billón', 'billones', 'mil millones'],
  ofAfterScale: (counted, scale) => (scale === 'mil' ? counted : `de ${counted}`),
  units: {
    dB: ['decibelio', 'decibelios'],
    mAh: ['miliamperio hora', 'miliamperios hora'],
    kbps: ['kilobit por segundo', 'kilobits por segundo'],
    Mbps: ['megabit por segundo', 'megabits por segundo'],
    Gbps: ['gigabit por segundo', 'gigabits por segundo'],
    kcal: ['kilocaloría', 'kilocalorías', 'f'],
    'cm²': ['centímetro cuadrado', 'centímetros cuadrados'],
    'cm³': ['centímetro cúbico', 'centímetros cúbicos'],
    'm/s²': ['metro por segundo al cuadrado', 'metros por segundo al cuadrado'],
    kHz: ['kilohercio', 'kilohercios'],
    MW: ['megavatio', 'megavatios'],
    px: ['píxel', 'píxeles'],
    km: ['kilómetro', 'kilómetros'],
    m: ['metro', 'metros'],
    cm: ['centímetro', 'centímetros'],
    mm: ['milímetro', 'milímetros'],
    'km²': ['kilómetro cuadrado', 'kilómetros cuadrados'],
    'm²': ['metro cuadrado', 'metros cuadrados'],
    m2: ['metro cuadrado', 'metros cuadrados'],
    'm³': ['metro cúbico', 'metros cúbicos'],
    'km/h': ['kilómetro por hora', 'kilómetros por hora'],
    'm/s': ['metro por segundo', 'metros por segundo'],
    kg: ['kilogramo', 'kilogramos'],
    g: ['gramo', 'gramos'],
    mg: ['miligramo', 'miligramos'],
    l: ['litro', 'litros'],
    L: ['litro', 'litros'],
    ml: ['mililitro', 'mililitros'],
    ha: ['hectárea', 'hectáreas', 'f'],
    h: ['hora', 'horas', 'f'],
    min: ['minuto', 'minutos'],
    s: ['segundo', 'segundos'],
    ms: ['milisegundo', 'milisegundos'],
    '°C': ['grado Celsius', 'grados Celsius'],
    ºC: ['grado Celsius', 'grados Celsius'],
    '°F': ['grado Fahrenheit', 'grados Fahrenheit'],
    '°': ['grado', 'grados'],
    W: ['vatio', 'vatios'],
    kW: ['kilovatio', 'kilovatios'],
    kWh: ['kilovatio hora', 'kilovatios hora'],
    V: ['voltio', 'voltios'],
    Hz: ['hercio', 'hercios'],
    MHz: ['megahercio', 'megahercios'],
    GHz: ['gigahercio', 'gigahercios'],
    KB: ['kilobyte', 'kilobytes'],
    MB: ['megabyte', 'megabytes'],
    GB: ['gigabyte', 'gigabytes'],
    TB: ['terabyte', 'terabytes'],
  },
  per: (name) => `por ${name}`,
  months: MONTHS,
  date: (day, month, year) =>
    `${day === 1 ? 'primero' : NUMBERS.cardinal(day)} de ${month}${year === undefined ? '' : ` de ${NUMBERS.cardinal(Number(year))}`}`,
  time(hour, minute, second) {
    const parts = [NUMBERS.cardinal(hour, 'f')];
    if (minute > 0 || second !== undefined) parts.push(NUMBERS.cardinal(minute));
    if (second !== undefined)
      return `${parts[0]} ${hour === 1 ? 'hora' : 'horas'}, ${NUMBERS.cardinal(minute, 'm')} minutos y ${NUMBERS.cardinal(second, 'm')} segundos`;
    return parts.join(' y ');
  },
  dayHalves: { am: 'de la mañana', pm: 'de la tarde' },
  fraction,
  mixed: (whole, numerator, denominator) =>
    `${NUMBERS.cardinal(whole, 'm')} y ${numerator === 1 && denominator === 2 ? 'medio' : fraction(numerator, denominator)}`,
  abbreviations: {
    'art.': 'artículo',
    'núm.': 'número',
    'ed.': 'edición',
    'vol.': 'volumen',
    'cap.': 'capítulo',
    'Sr.': 'señor',
    'Sra.': 'señora',
    'Srta.': 'señorita',
    'Sres.': 'señores',
    'Dr.': 'doctor',
    'Dra.': 'doctora',
    'D.': 'don',
    'Dña.': 'doña',
    'Prof.': 'profesor',
    'Ing.': 'ingeniero',
    'Lic.': 'licenciado',
    'Ud.': 'usted',
    'Uds.': 'ustedes',
    'Vd.': 'usted',
    'etc.': 'etcétera',
    'p. ej.': 'por ejemplo',
    'p.ej.': 'por ejemplo',
    'pág.': 'página',
    'págs.': 'páginas',
    'tel.': 'teléfono',
    'Tel.': 'teléfono',
    'Avda.': 'avenida',
    'Av.': 'avenida',
    'C/': 'calle',
    'c/': 'calle',
    'a. C.': 'antes de Cristo',
    'a.C.': 'antes de Cristo',
    'd. C.': 'después de Cristo',
    'd.C.': 'después de Cristo',
    'EE. UU.': 'Estados Unidos',
    'EE.UU.': 'Estados Unidos',
    'dpto.': 'departamento',
    'aprox.': 'aproximadamente',
    'vs.': 'contra',
  },
  versionWords: ['versión', 'versiones', 'sección', 'apartado', 'capítulo', 'artículo'],
  genderBefore,
  first: FIRST,
};

export const RULES: readonly Rule[] = languageRules(TABLES);
