/** Reader for numbers with a unit: "5km", "10 kg", "72°F", "60 mph", "5%", "3GB", "10 m/s", "16-bit". */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { quantity } from './digits.ts';

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
  'm²': 'square meter',
  'km²': 'square kilometer',
  'cm²': 'square centimeter',
  'ft²': 'square foot',
  'm³': 'cubic meter',
  'cm³': 'cubic centimeter',
  sqft: 'square foot',
  ha: 'hectare',
};
/** Units that are also words or letters: recognized only directly after the number. */
const ATTACHED_ONLY = new Set(['B', 'pt', 'gal', 'ha', 's', 'l', 'm', 'h', 'V', 'W', 'L', 'g', 'min']);
/** Of these, units that are unambiguous after a number and a space. */
const AFTER_BLANK = new Set(['m', 'g', 'V', 'W', 'L', 'min', 'h', 's']);

/** Reads a quantity and its unit in one or two chunks; a slash between units or words is "per". */
export function readMeasure(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  if (!/^[-−+~±]?\.?[0-9]/u.test(core)) return undefined;
  const height = feetAndInches(chunks, at);
  if (height !== undefined) return height;
  const cut = figureEnd(core);
  const amount = spokenAmount(core.slice(0, cut));
  if (amount === undefined) return undefined;
  const single = /^an?$/i.test(coreAt(chunks, at - 1));
  const hyphened = core[cut] === '-';
  const written = core.slice(hyphened ? cut + 1 : cut);
  if (written !== '') {
    if (written === 's' && /0$/.test(core.slice(0, cut))) return undefined;
    const unit = unitOf(written, single || hyphened || isOne(amount));
    return unit === undefined ? undefined : { spoken: [`${amount} ${unit}`] };
  }
  const next = coreAt(chunks, at + 1);
  if (!joined(chunks, at) || (ATTACHED_ONLY.has(next) && !AFTER_BLANK.has(next))) return undefined;
  const unit = unitOf(next, single || isOne(amount));
  return unit === undefined ? undefined : { spoken: [amount, unit], after: unitDot(chunks, at + 1) };
}

/** "10 ft. tall": the dot belongs to the unit unless the sentence ends there. */
function unitDot(chunks: readonly Chunk[], at: number): string | undefined {
  const after = chunks[at]?.after;
  const next = chunks[at + 1];
  return after === '.' && next !== undefined && /^\p{Ll}/u.test(next.core) ? '' : undefined;
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
  return Object.hasOwn(UNITS, written) ? UNITS[written] : undefined;
}

/** "mile per hour" → "miles per hour", "foot" → "feet", "percent" unchanged. */
function pluralUnit(unit: string): string {
  if (/^(?:percent|per mille)$|hertz$/.test(unit)) return unit;
  const counted = /^[a-z]+(?= (?:per|Celsius|Fahrenheit))/.exec(unit)?.[0];
  if (counted !== undefined) return `${counted}s${unit.slice(counted.length)}`;
  return unit.endsWith('foot') ? `${unit.slice(0, -4)}feet` : `${unit}s`;
}

/** Height: 5'10" → "five foot ten". The closing quote is the inch sign. */
function feetAndInches(chunks: readonly Chunk[], at: number): Reading | undefined {
  const parts = /^([0-9])'([0-9]{1,2})$/.exec(coreAt(chunks, at));
  const after = chunks[at]?.after ?? '';
  if (parts === null || !/^["”]/u.test(after)) return undefined;
  const spoken = `${quantity(parts[1] ?? '')} foot ${quantity(parts[2] ?? '')}`;
  return { spoken: [spoken], after: after.slice(1) };
}
