/**
 * Reader for numbers with a unit, in any capitalisation that is unambiguous: "5km", "10 KG", "72°F", "60 mph", "5%", "3GB", "10 m/s",
 * "16-bit", "4 1/2 lbs", "100 million kg", "5 km³", "12/kg"; a length in feet and inches: 5'10", 12".
 */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { quantity } from './digits.ts';
import { cardinal, fraction } from './numbers.ts';

/** Unit to singular name; {@link pluralUnit} derives the plural. */
const UNITS: Readonly<Record<string, string>> = {
  '%': 'percent',
  '‰': 'per mille',
  '°': 'degree',
  '°C': 'degree Celsius',
  '°F': 'degree Fahrenheit',
  '℃': 'degree Celsius',
  '℉': 'degree Fahrenheit',
  mm: 'millimeter',
  cm: 'centimeter',
  m: 'meter',
  km: 'kilometer',
  nm: 'nanometer',
  µm: 'micrometer',
  μm: 'micrometer',
  in: 'inch',
  ft: 'foot',
  yd: 'yard',
  mi: 'mile',
  mg: 'milligram',
  µg: 'microgram',
  g: 'gram',
  kg: 'kilogram',
  lb: 'pound',
  lbs: 'pound',
  oz: 'ounce',
  ml: 'milliliter',
  mL: 'milliliter',
  l: 'liter',
  L: 'liter',
  gal: 'gallon',
  tbsp: 'tablespoon',
  tsp: 'teaspoon',
  s: 'second',
  sec: 'second',
  secs: 'second',
  ms: 'millisecond',
  µs: 'microsecond',
  ns: 'nanosecond',
  min: 'minute',
  mins: 'minute',
  h: 'hour',
  hr: 'hour',
  hrs: 'hour',
  yr: 'year',
  yrs: 'year',
  mph: 'mile per hour',
  kph: 'kilometer per hour',
  'km/h': 'kilometer per hour',
  kmh: 'kilometer per hour',
  'm/s': 'meter per second',
  rpm: 'revolution per minute',
  bpm: 'beat per minute',
  fps: 'frame per second',
  dpi: 'dot per inch',
  psi: 'pound per square inch',
  hp: 'horsepower',
  ppm: 'part per million',
  ppb: 'part per billion',
  kts: 'knot',
  Hz: 'hertz',
  kHz: 'kilohertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  dB: 'decibel',
  W: 'watt',
  kW: 'kilowatt',
  MW: 'megawatt',
  GW: 'gigawatt',
  kWh: 'kilowatt hour',
  V: 'volt',
  Ω: 'ohm',
  kΩ: 'kilohm',
  MΩ: 'megohm',
  mA: 'milliamp',
  mAh: 'milliamp hour',
  kcal: 'kilocalorie',
  kJ: 'kilojoule',
  B: 'byte',
  kB: 'kilobyte',
  KB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  PB: 'petabyte',
  GiB: 'gibibyte',
  MiB: 'mebibyte',
  KiB: 'kibibyte',
  kbps: 'kilobit per second',
  Mbps: 'megabit per second',
  Gbps: 'gigabit per second',
  px: 'pixel',
  pt: 'point',
  cc: 'cubic centimeter',
  sqft: 'square foot',
  ha: 'hectare',
};
/** Units in lower case, for other capitalisations ("KG", "mbps"). Single letters are not among them: "5M" are millions. */
const UNITS_IN_LOWER_CASE: ReadonlyMap<string, string> = new Map(
  Object.entries(UNITS)
    .filter(([written]) => written.length > 1)
    .reverse()
    .map(([written, name]) => [written.toLowerCase(), name]),
);
/** Names of units, singular and plural: "1/2 mile", "3/4 cups". */
const UNIT_BY_NAME: ReadonlyMap<string, string> = new Map(
  [...Object.values(UNITS), 'cup', 'pint', 'quart', 'day', 'week', 'month', 'acre', 'dozen'].flatMap(
    (name) => [
      [name, name],
      [pluralUnit(name), name],
    ],
  ),
);
/** Lengths that have a square and a cube. */
const LENGTHS: Readonly<Record<string, string>> = {
  mm: 'millimeter',
  cm: 'centimeter',
  m: 'meter',
  km: 'kilometer',
  in: 'inch',
  ft: 'foot',
  yd: 'yard',
  mi: 'mile',
};
const POWERS: Readonly<Record<string, string>> = { '²': 'square', '2': 'square', '³': 'cubic', '3': 'cubic' };
const AREA_WORDS: ReadonlyMap<string, string> = new Map([
  ['sq', 'square'],
  ['cu', 'cubic'],
]);
const SCALE_WORDS = new Set(['hundred', 'thousand', 'million', 'billion', 'trillion']);
/** Units that are also words or letters: recognized only directly after the number. */
const ATTACHED_ONLY = new Set(['in', 'B', 'pt', 'gal', 'ha', 's', 'l', 'm', 'h', 'V', 'W', 'L', 'g', 'min']);
/** Of these, units that are unambiguous after a number and a space. */
const AFTER_BLANK = new Set(['m', 'g', 'V', 'W', 'L', 'min', 'h', 's']);

/** Reads a quantity and its unit in one or two chunks; a slash between units or words is "per". */
export function readMeasure(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const bare = barePower(chunks, at);
  if (bare !== undefined) return { spoken: [bare] };
  if (!/^[-−+~±]?\.?[0-9½¼¾]/u.test(core)) return undefined;
  const special =
    product(chunks, at) ??
    feetAndInches(chunks, at) ??
    inches(chunks, at) ??
    fractionOf(chunks, at) ??
    scaled(chunks, at) ??
    areaOf(chunks, at);
  if (special !== undefined) return special;
  const cut = figureEnd(core);
  const amount = spokenAmount(core.slice(0, cut));
  if (amount === undefined) return undefined;
  const single = /^an?$/i.test(coreAt(chunks, at - 1));
  const hyphened = core[cut] === '-';
  const written = core.slice(hyphened ? cut + 1 : cut);
  if (written !== '') {
    // A house or flat: "12B Baker Street".
    if (written === 'B' && /^\p{Lu}/u.test(coreAt(chunks, at + 1))) return undefined;
    if (written === 's' && /0$/.test(core.slice(0, cut))) return undefined;
    const below = written.startsWith('/') ? lookUp(written.slice(1)) : undefined;
    if (below !== undefined) return { spoken: [`${amount} per ${below}`] };
    const isMinutes = written === 'm' && /^[0-9]{1,2}h$/.test(coreAt(chunks, at - 1));
    const describes = joined(chunks, at) && DESCRIBED.test(coreAt(chunks, at + 1));
    const unit = unitOf(isMinutes ? 'min' : written, single || hyphened || describes || isOne(amount));
    return unit === undefined ? undefined : { spoken: [`${amount} ${unit}`] };
  }
  const next = coreAt(chunks, at + 1);
  if (!joined(chunks, at) || (isWord(next) && !isInches(chunks, at + 1))) return undefined;
  const unit = unitOf(next, single || isOne(amount));
  return unit === undefined ? undefined : { spoken: [amount, unit], after: unitDot(chunks, at + 1) };
}

/** "km³" without a number, as in "per km³". */
function barePower(chunks: readonly Chunk[], at: number): string | undefined {
  const core = coreAt(chunks, at);
  if (!/[²³]$/u.test(core)) return undefined;
  const name = power(core);
  return name && (/^(?:per|an?|one|each)$/i.test(coreAt(chunks, at - 1)) ? name : pluralUnit(name));
}

/** Units of the sides of a size: "20x30 cm" is "twenty by thirty". */
const SIDES = new Set(['mm', 'cm', 'm', 'km', 'in', 'ft', 'yd', 'mi', 'px']);

/** "2x500 mg" → "two times five hundred milligrams", "20x30cm" → "twenty by thirty centimeters". */
function product(chunks: readonly Chunk[], at: number): Reading | undefined {
  const parts = /^([0-9][0-9.,]{0,9}(?:[x×][0-9][0-9.,]{0,9})?)[x×]([0-9][0-9.,]{0,9})(\p{L}{1,3})?$/u.exec(
    coreAt(chunks, at),
  );
  if (parts === null) return undefined;
  const [, before = '', last = '', attached] = parts;
  const written = attached ?? (joined(chunks, at) ? coreAt(chunks, at + 1) : '');
  const unit = attached === undefined && isWord(written) ? undefined : unitOf(written, false);
  const amount = quantity(last);
  const others = before.split(/[x×]/u).map(quantity);
  if (unit === undefined || amount === undefined || others.includes(undefined)) return undefined;
  const spoken = [...others, amount].join(SIDES.has(written.toLowerCase()) ? ' by ' : ' times ');
  if (attached !== undefined) return { spoken: [`${spoken} ${unit}`] };
  return { spoken: [spoken, unit], after: unitDot(chunks, at + 1) };
}

/** Nouns that a length describes: "a 100m record" is "a one hundred meter record". */
const DESCRIBED =
  /^(?:record|relay|race|dash|sprint|final|hurdles|freestyle|backstroke|breaststroke|butterfly|champion|champions|runner)s?$/i;

/** "1/2 lb" → "half a pound", "3/4 mi" → "three quarters of a mile", "4 1/2 lbs" → "four and a half pounds". */
function fractionOf(chunks: readonly Chunk[], at: number): Reading | undefined {
  const whole =
    /^[0-9]{1,4}$/.test(coreAt(chunks, at)) && joined(chunks, at) ? coreAt(chunks, at) : undefined;
  const fractionAt = whole === undefined ? at : at + 1;
  const parts = /^([0-9]{1,2})\/([0-9]{1,2})$/.exec(coreAt(chunks, fractionAt));
  const spoken = parts === null ? undefined : fraction(parts[1] ?? '', parts[2] ?? '');
  const written = coreAt(chunks, fractionAt + 1);
  const named = isWord(written) ? undefined : (lookUp(written) ?? UNIT_BY_NAME.get(written));
  const unit = joined(chunks, fractionAt) ? named : undefined;
  if (spoken === undefined || unit === undefined) return undefined;
  const after = unitDot(chunks, fractionAt + 1);
  if (whole !== undefined) {
    const rest = `and ${spoken.replace(/^one (half|quarter)$/, 'a $1')}`;
    return { spoken: [cardinal(whole), rest, pluralUnit(unit)], after };
  }
  const article = /^(?:[aeio]|hour)/.test(unit) ? 'an' : 'a';
  if (spoken === 'one half') return { spoken: ['half', `${article} ${unit}`], after };
  return { spoken: [spoken, `of ${article} ${unit}`], after };
}

/** "100 million kg" → "one hundred million kilograms". */
function scaled(chunks: readonly Chunk[], at: number): Reading | undefined {
  const [scale, written] = [coreAt(chunks, at + 1).toLowerCase(), coreAt(chunks, at + 2)];
  const amount = SCALE_WORDS.has(scale) ? quantity(coreAt(chunks, at)) : undefined;
  const unit = amount === undefined || isWord(written) ? undefined : lookUp(written);
  if (amount === undefined || unit === undefined || !joined(chunks, at) || !joined(chunks, at + 1))
    return undefined;
  return { spoken: [amount, scale, pluralUnit(unit)], after: unitDot(chunks, at + 2) };
}

/** "2500 sq ft" and "12 cu. in." → "two thousand five hundred square feet", "twelve cubic inches". */
function areaOf(chunks: readonly Chunk[], at: number): Reading | undefined {
  const power = AREA_WORDS.get(coreAt(chunks, at + 1).toLowerCase());
  const unit = coreAt(chunks, at + 2).toLowerCase();
  const length = Object.hasOwn(LENGTHS, unit) ? LENGTHS[unit] : undefined;
  const amount = quantity(coreAt(chunks, at));
  if (power === undefined || length === undefined || amount === undefined) return undefined;
  if (!joined(chunks, at) || !joined(chunks, at + 1, '.')) return undefined;
  const name = isOne(amount) ? length : pluralUnit(length);
  return { spoken: [amount, power, name], after: unitDot(chunks, at + 2) };
}

/** Whether a unit in a chunk of its own is rather a word or a letter. */
function isWord(written: string): boolean {
  const isLetter = written.length === 1;
  return ATTACHED_ONLY.has(isLetter ? written : written.toLowerCase()) && !AFTER_BLANK.has(written);
}

/** "10 ft. tall", "3 ft. 6 in.": the dot belongs to the unit unless the sentence ends there. */
function unitDot(chunks: readonly Chunk[], at: number): string | undefined {
  const after = chunks[at]?.after;
  const next = chunks[at + 1];
  if (after !== '.' || next === undefined) return undefined;
  const isHeight = /^[0-9]/.test(next.core) && coreAt(chunks, at + 2) === 'in';
  return isHeight || /^\p{Ll}/u.test(next.core) ? '' : undefined;
}

/** Index after the number at the start of `core`: sign, digits, commas, dots and one range dash. */
function figureEnd(core: string): number {
  let end = /^[-−+~±]/u.test(core) ? 1 : 0;
  while (end < core.length && /[0-9.,½¼¾]/u.test(core[end] ?? '')) end++;
  if (/[-–—]/u.test(core[end] ?? '') && /[0-9]/.test(core[end + 1] ?? '')) {
    end++;
    while (end < core.length && /[0-9.,]/.test(core[end] ?? '')) end++;
  }
  return end;
}

function spokenAmount(written: string): string | undefined {
  const prefixes: Readonly<Record<string, string>> = { '~': 'about ', '±': 'plus or minus ' };
  const prefix = prefixes[written[0] ?? ''];
  const spoken = quantity(prefix === undefined ? written : written.slice(1));
  return spoken === undefined ? undefined : (prefix ?? '') + spoken;
}

function isOne(amount: string): boolean {
  return amount === 'one' || amount === 'minus one';
}

/** @param single whether the unit follows "one" or precedes the measured noun. */
function unitOf(written: string, single: boolean): string | undefined {
  const known = lookUp(written);
  if (known !== undefined) return single ? known : pluralUnit(known);
  const slash = written.indexOf('/');
  if (slash <= 0) return undefined;
  const over = lookUp(written.slice(0, slash));
  const below = written.slice(slash + 1);
  if (over === undefined || !/^\p{L}{1,12}$/u.test(below)) return undefined;
  return `${single ? over : pluralUnit(over)} per ${lookUp(below) ?? below}`;
}

function lookUp(written: string): string | undefined {
  if (Object.hasOwn(UNITS, written)) return UNITS[written];
  return UNITS_IN_LOWER_CASE.get(written.toLowerCase()) ?? power(written);
}

/** "km³", "m2", "ft^3" → "cubic kilometer", "square meter", "cubic foot". */
function power(written: string): string | undefined {
  const parts = /^([a-z]{1,2})\^?([²³23])$/iu.exec(written);
  const length = LENGTHS[(parts?.[1] ?? '').toLowerCase()];
  return parts === null || length === undefined ? undefined : `${POWERS[parts[2] ?? '']} ${length}`;
}

/** "mile per hour" → "miles per hour", "foot" → "feet", "percent" unchanged. */
function pluralUnit(unit: string): string {
  if (/^(?:percent|per mille|horsepower)$|hertz$/.test(unit)) return unit;
  const counted = /^[a-z]+(?= (?:per|Celsius|Fahrenheit))/.exec(unit)?.[0];
  if (counted !== undefined) return `${counted}s${unit.slice(counted.length)}`;
  if (unit.endsWith('inch')) return `${unit}es`;
  return unit.endsWith('foot') ? `${unit.slice(0, -4)}feet` : `${unit}s`;
}

/** Height: 5'10" and 5' 10" → "five foot ten". The closing quote is the inch sign. */
function feetAndInches(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const parts = /^([0-9])'([0-9]{1,2})$/.exec(core);
  const isSpread =
    /^[0-9]$/.test(core) &&
    chunks[at]?.after === "'" &&
    /^[0-9]{1,2}$/.test(coreAt(chunks, at + 1)) &&
    chunks[at + 1]?.before === '';
  const after = chunks[isSpread ? at + 1 : at]?.after ?? '';
  if ((parts === null && !isSpread) || !/^["”]/u.test(after)) return undefined;
  if (isSpread)
    return {
      spoken: [`${quantity(core)} foot`, quantity(coreAt(chunks, at + 1)) ?? ''],
      after: after.slice(1),
    };
  const spoken = `${quantity(parts?.[1] ?? '')} foot ${quantity(parts?.[2] ?? '')}`;
  return { spoken: [spoken], after: after.slice(1) };
}

/** Max. number of chunks before an inch sign in which an opening quote is searched. */
const QUOTE_CHUNKS = 40;

/** A number before a quotation mark that closes nothing: 12" → "twelve inches", a 12" record → "a twelve inch record". */
function inches(chunks: readonly Chunk[], at: number): Reading | undefined {
  const { core = '', after = '', before = '' } = chunks[at] ?? {};
  if (!after.startsWith('"') || /["“]/u.test(before)) return undefined;
  const amount = quantity(core);
  if (amount === undefined || hasOpenQuote(chunks, at)) return undefined;
  const single = isOne(amount) || /^(?:an?|the|this|that)$/i.test(coreAt(chunks, at - 1));
  return { spoken: [`${amount} inch${single ? '' : 'es'}`], after: after.slice(1) };
}

function hasOpenQuote(chunks: readonly Chunk[], at: number): boolean {
  let isOpen = false;
  for (let i = Math.max(0, at - QUOTE_CHUNKS); i < at; i++) {
    const { before = '', after = '' } = chunks[i] ?? {};
    if (/["“]/u.test(before)) isOpen = true;
    if (/["”]/u.test(after) && !/^[0-9]/.test(coreAt(chunks, i))) isOpen = false;
  }
  return isOpen;
}

/** "12 in." and "5 ft 2 in" are inches; "in" elsewhere is the preposition. */
function isInches(chunks: readonly Chunk[], at: number): boolean {
  if (coreAt(chunks, at) !== 'in') return false;
  const isAfterFeet =
    /^(?:ft|feet|foot)$/.test(coreAt(chunks, at - 2)) || /^[0-9]+ft$/.test(coreAt(chunks, at - 2));
  return isAfterFeet || chunks[at]?.after.startsWith('.') === true;
}
