/** What Brazilian Portuguese text has besides words. */

import { type LanguageTables, languageRules, romanNumerals, romanValue } from '../rules/language-rules.ts';
import { digitByDigit, type Gender } from '../rules/numbers.ts';
import type { Rule } from '../rules/spoken-words.ts';
import { NUMBERS } from './numbers.ts';

const MONTHS =
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' ');
const FRACTIONS: Readonly<Record<number, readonly [string, string]>> = {
  2: ['meio', 'meios'],
  3: ['terço', 'terços'],
  4: ['quarto', 'quartos'],
  5: ['quinto', 'quintos'],
  6: ['sexto', 'sextos'],
  7: ['sétimo', 'sétimos'],
  8: ['oitavo', 'oitavos'],
  9: ['nono', 'nonos'],
  10: ['décimo', 'décimos'],
};
/** Words after a number that it does not count. */
const NOT_COUNTED: ReadonlySet<string> = new Set(
  'a à ao aos as às com da das de do dos e em entre era foi já mas na nas no nos o os ou para pela pelo por que se sem são é uma'.split(
    ' ',
  ),
);

function genderBefore(word: string): Gender {
  return NOT_COUNTED.has(word)
    ? 'bare'
    : /(?:as?|ões|ções|ção|dades?|gens?|gem|mulher(?:es)?|vez(?:es)?|noites?|tardes?|partes?|fases?)$/.test(
          word,
        ) && !/^(?:dias?|milhões|bilhões|problemas?|programas?|mapas?|gramas?|temas?|sistemas?)$/.test(word)
      ? 'f'
      : 'm';
}

const FIRST: readonly Rule[] = [
  {
    // The days of the week have the names of ordinals, some of them older forms.
    pattern: /(?<![\p{L}\p{N}.,])([2-6])ª[ -]feira/gu,
    speak: ([, day]) => `${['segunda', 'terça', 'quarta', 'quinta', 'sexta'][Number(day) - 2]}-feira`,
  },
  { pattern: /§ ?(?=[0-9])/gu, speak: () => 'parágrafo ' },
  {
    pattern: /(?<![\p{L}\p{N}.,])([0-9]{1,3})(?:\.?([ºª])(?! ?[CF](?!\p{L}))|°(?! ?[CF]\b|[0-9]))/gu,
    speak: ([, digits, sign]) => NUMBERS.ordinal(Number(digits), sign === 'ª' ? 'f' : 'm'),
  },
  {
    pattern:
      /(?<![\p{L}\p{N}.,])1(?= de (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)(?!\p{L}))/giu,
    speak: () => 'primeiro',
  },
  {
    pattern:
      /(?<!\p{L})(séculos?|séc\.|capítulo|tomo|volume|ato|título|anexo) ([IVXLC]{1,8})(?![\p{L}\p{N}])/giu,
    speak([, noun, numeral = '']) {
      const value = romanValue(numeral);
      if (value === undefined) return undefined;
      return `${/^séc\.$/i.test(noun ?? '') ? 'século' : noun} ${/^séc/i.test(noun ?? '') && value <= 10 ? NUMBERS.ordinal(value, 'm') : NUMBERS.cardinal(value)}`;
    },
  },
  {
    pattern:
      /(?<!\p{L})((?:Dom|rei|papa|Pedro|João|Dom Pedro|Dom João|Luís|Henrique|João Paulo|Bento|Elizabeth)) ([IVX]{1,6})(?![\p{L}\p{N}])/gu,
    speak([, name, numeral = '']) {
      const value = romanValue(numeral);
      if (value === undefined) return undefined;
      return `${name} ${value <= 10 ? NUMBERS.ordinal(value, name === 'Elizabeth' ? 'f' : 'm') : NUMBERS.cardinal(value)}`;
    },
  },
  { pattern: /(?<!\p{L})[nN](?:\.?º|\.?°|r\.) ?(?=[0-9])/gu, speak: () => 'número ' },
  {
    pattern: /(?<=[0-9]) (mi|bi)(?![\p{L}\p{N}])/gu,
    speak: ([, scale]) => (scale === 'mi' ? ' milhões' : ' bilhões'),
  },
  {
    pattern: /(?<=(?<![\p{L}\p{N}.,])[0-9]{1,3})x(?= (?:de|sem|com|no|na|por|mais|menos)(?!\p{L}))/gu,
    speak: () => ' vezes',
  },
  { pattern: /(?<!\p{L})km (?=[0-9]{1,4}(?![\p{L}\p{N}]))/gu, speak: () => 'quilômetro ' },
  {
    pattern: /(?<!\+[0-9]{1,3} )(?<![\p{L}\p{N}.,+-])[1-9][0-9] 9?[0-9]{4}-[0-9]{4}(?![\p{L}\p{N}-])/gu,
    speak: ([written]) => digitGroups(written),
  },
  {
    // A postal code, the number of a person and that of a company.
    pattern:
      /(?<![\p{L}\p{N}.,/-])(?:[0-9]{5}-[0-9]{3}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}|[0-9]{2}\.[0-9]{3}\.[0-9]{3}\/[0-9]{4}-[0-9]{2})(?![\p{L}\p{N}-])/gu,
    speak: ([written]) => digitGroups(written),
  },
  {
    pattern:
      /(?<=(?<!\p{L})(?:tel\.|telefone|fone|celular|whatsapp)(?: é(?: o)?)?:? )[0-9]{4,5}-[0-9]{4}(?![\p{L}\p{N}-])/giu,
    speak: ([written]) => digitGroups(written),
  },
  {
    // The numbers of the emergency services.
    pattern:
      /(?<=(?<!\p{L})(?:ligue|ligar|liguei|disque|discar|chame)(?: para)?(?: o)? )1[0-9]{2}(?![\p{L}\p{N}]|[.,][0-9])/giu,
    speak: ([digits]) => digitGroups(digits),
  },
  ...romanNumerals({ numbers: NUMBERS, genderBefore }),
];

const digitGroups = (written: string) =>
  (written.match(/[0-9]+/g) ?? []).map((group) => digitByDigit(group, NUMBERS)).join(', ');

function fraction(numerator: number, denominator: number): string {
  const names = FRACTIONS[denominator];
  if (names === undefined) return `${NUMBERS.cardinal(numerator)} sobre ${NUMBERS.cardinal(denominator)}`;
  return `${NUMBERS.cardinal(numerator)} ${numerator === 1 ? names[0] : names[1]}`;
}

export const TABLES: LanguageTables = {
  format: { decimalMark: ',' },
  numbers: NUMBERS,
  readsShortFractions: true,
  isSingular: ({ whole }) => whole === '1',
  words: {
    point: 'vírgula',
    minus: 'menos',
    plus: 'mais',
    equals: 'igual a',
    times: 'vezes',
    by: 'por',
    dividedBy: 'dividido por',
    percent: 'por cento',
    perMille: 'por mil',
    outOf: 'de',
    to: 'a',
    and: 'e',
    at: 'arroba',
    dot: 'ponto',
    slash: 'barra',
    dash: 'hífen',
    underscore: 'sublinhado',
    colon: 'dois pontos',
    www: 'dáblio dáblio dáblio',
    hash: 'cerquilha',
    degrees: 'graus',
  },
  currencies: [
    { signs: ['R$', 'BRL'], name: ['real', 'reais'], cent: ['centavo', 'centavos'] },
    { signs: ['US$', '$', 'USD'], name: ['dólar', 'dólares'], cent: ['centavo', 'centavos'] },
    { signs: ['€', 'EUR'], name: ['euro', 'euros'], cent: ['centavo', 'centavos'] },
    { signs: ['£', 'GBP'], name: ['libra', 'libras', 'f'], cent: ['pêni', 'pence'] },
    { signs: ['¥', 'JPY'], name: ['iene', 'ienes'] },
  ],
  cents: { joiner: 'e' },
  scales: ['milhão', 'milhões', 'bilhão', 'bilhões', 'trilhão', 'trilhões', 'mil'],
  ofAfterScale: (counted, scale) => (scale === 'mil' ? counted : `de ${counted}`),
  units: {
    dB: ['decibel', 'decibéis'],
    mAh: ['miliampere-hora', 'miliamperes-hora'],
    kbps: ['quilobit por segundo', 'quilobits por segundo'],
    Mbps: ['megabit por segundo', 'megabits por segundo'],
    Gbps: ['gigabit por segundo', 'gigabits por segundo'],
    kcal: ['quilocaloria', 'quilocalorias', 'f'],
    'cm²': ['centímetro quadrado', 'centímetros quadrados'],
    'cm³': ['centímetro cúbico', 'centímetros cúbicos'],
    'm/s²': ['metro por segundo ao quadrado', 'metros por segundo ao quadrado'],
    kHz: ['quilo-hertz', 'quilo-hertz'],
    MW: ['megawatt', 'megawatts'],
    px: ['pixel', 'pixels'],
    km: ['quilômetro', 'quilômetros'],
    m: ['metro', 'metros'],
    cm: ['centímetro', 'centímetros'],
    mm: ['milímetro', 'milímetros'],
    'km²': ['quilômetro quadrado', 'quilômetros quadrados'],
    'm²': ['metro quadrado', 'metros quadrados'],
    m2: ['metro quadrado', 'metros quadrados'],
    'm³': ['metro cúbico', 'metros cúbicos'],
    'km/h': ['quilômetro por hora', 'quilômetros por hora'],
    'm/s': ['metro por segundo', 'metros por segundo'],
    kg: ['quilo', 'quilos'],
    g: ['grama', 'gramas'],
    mg: ['miligrama', 'miligramas'],
    t: ['tonelada', 'toneladas', 'f'],
    l: ['litro', 'litros'],
    L: ['litro', 'litros'],
    ml: ['mililitro', 'mililitros'],
    ha: ['hectare', 'hectares'],
    h: ['hora', 'horas', 'f'],
    min: ['minuto', 'minutos'],
    s: ['segundo', 'segundos'],
    ms: ['milissegundo', 'milissegundos'],
    '°C': ['grau Celsius', 'graus Celsius'],
    ºC: ['grau Celsius', 'graus Celsius'],
    '°F': ['grau Fahrenheit', 'graus Fahrenheit'],
    '°': ['grau', 'graus'],
    W: ['watt', 'watts'],
    kW: ['quilowatt', 'quilowatts'],
    kWh: ['quilowatt-hora', 'quilowatts-hora'],
    V: ['volt', 'volts'],
    Hz: ['hertz', 'hertz'],
    MHz: ['mega-hertz', 'mega-hertz'],
    GHz: ['giga-hertz', 'giga-hertz'],
    KB: ['quilobyte', 'quilobytes'],
    MB: ['megabyte', 'megabytes'],
    GB: ['gigabyte', 'gigabytes'],
    TB: ['terabyte', 'terabytes'],
  },
  per: (name) => `por ${name}`,
  months: MONTHS,
  date: (day, month, year) =>
    `${day === 1 ? 'primeiro' : NUMBERS.cardinal(day)} de ${month}${year === undefined ? '' : ` de ${NUMBERS.cardinal(Number(year))}`}`,
  time(hour, minute, second) {
    const hours = `${NUMBERS.cardinal(hour, 'f')} ${hour < 2 ? 'hora' : 'horas'}`;
    if (second !== undefined) {
      return `${hours}, ${NUMBERS.cardinal(minute)} ${minute === 1 ? 'minuto' : 'minutos'} e ${NUMBERS.cardinal(second)} ${second === 1 ? 'segundo' : 'segundos'}`;
    }
    return minute === 0 ? hours : `${NUMBERS.cardinal(hour, 'f')} e ${NUMBERS.cardinal(minute)}`;
  },
  dayHalves: { am: 'da manhã', pm: 'da tarde' },
  fraction,
  mixed: (whole, numerator, denominator) =>
    `${NUMBERS.cardinal(whole, 'm')} e ${numerator === 1 && denominator === 2 ? 'meio' : fraction(numerator, denominator)}`,
  abbreviations: {
    'art.': 'artigo',
    'Sr.': 'senhor',
    'Sra.': 'senhora',
    'Srta.': 'senhorita',
    'Srs.': 'senhores',
    'Dr.': 'doutor',
    'Dra.': 'doutora',
    'D.': 'dom',
    'Prof.': 'professor',
    'Profa.': 'professora',
    'Eng.': 'engenheiro',
    'Exmo.': 'excelentíssimo',
    'etc.': 'etcétera',
    'p. ex.': 'por exemplo',
    'p.ex.': 'por exemplo',
    'ex.:': 'exemplo:',
    'por ex.': 'por exemplo',
    'pág.': 'página',
    'págs.': 'páginas',
    'tel.': 'telefone',
    'Av.': 'avenida',
    'R.': 'rua',
    'apto.': 'apartamento',
    'a.C.': 'antes de Cristo',
    'd.C.': 'depois de Cristo',
    'aprox.': 'aproximadamente',
    'Cia.': 'companhia',
    'Ltda.': 'limitada',
    'vs.': 'contra',
  },
  versionWords: ['versão', 'versões', 'seção', 'capítulo', 'artigo'],
  genderBefore,
  first: FIRST,
};

export const RULES: readonly Rule[] = languageRules(TABLES);
