/**
 * Reader for the parts of postal addresses: house numbers ("2788 San Tomas Expy"), directions ("N 1st St"), kinds of streets,
 * states ("Santa Clara, CA 95051") and ZIP codes.
 */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { keptDot } from './abbreviations.ts';
import { digitByDigit, pairs } from './numbers.ts';

/** Abbreviations of street kinds in lower case, and their names. */
const STREETS: Readonly<Record<string, string>> = {
  st: 'Street',
  ave: 'Avenue',
  av: 'Avenue',
  blvd: 'Boulevard',
  rd: 'Road',
  ln: 'Lane',
  dr: 'Drive',
  ct: 'Court',
  pl: 'Place',
  sq: 'Square',
  ter: 'Terrace',
  cir: 'Circle',
  trl: 'Trail',
  pkwy: 'Parkway',
  hwy: 'Highway',
  fwy: 'Freeway',
  expy: 'Expressway',
  expwy: 'Expressway',
  tpke: 'Turnpike',
};
const STREET_NAMES = new Set(Object.values(STREETS).map((name) => name.toLowerCase()));
STREET_NAMES.add('way');
STREET_NAMES.add('broadway');
const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'North',
  S: 'South',
  E: 'East',
  W: 'West',
  NE: 'Northeast',
  NW: 'Northwest',
  SE: 'Southeast',
  SW: 'Southwest',
};
/** Postal abbreviations of states, districts and territories of the United States (USPS Publication 28, appendix B). */
const STATES: ReadonlyMap<string, string> = new Map(
  (
    'AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,' +
    'DC D C,FL Florida,GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,' +
    'LA Louisiana,ME Maine,MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,' +
    'MT Montana,NE Nebraska,NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,' +
    'ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,PR Puerto Rico,RI Rhode Island,' +
    'SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,WA Washington,' +
    'WV West Virginia,WI Wisconsin,WY Wyoming'
  )
    .split(',')
    .map((entry): [string, string] => [entry.slice(0, 2), entry.slice(3)]),
);
/** Also words or other abbreviations: states only before a ZIP code. */
const AMBIGUOUS_STATES = new Set('AL CO DE HI ID IN LA MA ME MS OH OK OR PA PR'.split(' '));
/** Max. number of words between a house number and the kind of the street. */
const MAX_STREET_WORDS = 5;
const ZIP = /^[0-9]{5}(?:-[0-9]{4})?$/;

/** Reads one part of an address according to its neighbours. */
export function readAddress(chunks: readonly Chunk[], at: number): Reading | undefined {
  return (
    houseNumber(chunks, at) ??
    direction(chunks, at) ??
    streetKind(chunks, at) ??
    state(chunks, at) ??
    zip(chunks, at)
  );
}

/** "2788 San Tomas Expy" → "twenty-seven eighty-eight". */
function houseNumber(chunks: readonly Chunk[], at: number): Reading | undefined {
  return isHouseNumber(chunks, at) ? { spoken: [pairs(coreAt(chunks, at))] } : undefined;
}

/** A number before capitalized words that end with the kind of a street. */
function isHouseNumber(chunks: readonly Chunk[], at: number): boolean {
  return /^[1-9][0-9]{0,4}$/.test(coreAt(chunks, at)) && streetEnd(chunks, at) !== undefined;
}

/** Index of the kind of the street after the house number at `at`. */
function streetEnd(chunks: readonly Chunk[], at: number): number | undefined {
  for (let i = at + 1; i <= at + MAX_STREET_WORDS && joined(chunks, i - 1); i++) {
    const core = coreAt(chunks, i);
    if (i > at + 1 && isStreet(core)) return i;
    if (!/^(?:\p{Lu}|[0-9]{1,3}(?:st|nd|rd|th)$)/iu.test(core) || /^\p{Ll}/u.test(core)) return undefined;
  }
  return undefined;
}

function isStreet(core: string): boolean {
  const written = core.toLowerCase();
  return Object.hasOwn(STREETS, written) || (STREET_NAMES.has(written) && core !== written);
}

/** Index of the house number before `at`. */
function houseNumberBefore(chunks: readonly Chunk[], at: number): number | undefined {
  for (let i = at - 1; i >= Math.max(0, at - MAX_STREET_WORDS); i--) if (isHouseNumber(chunks, i)) return i;
  return undefined;
}

/** "708 N 1st St" → "North", "12 Main St NW" → "Northwest". */
function direction(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const name = Object.hasOwn(DIRECTIONS, core) ? DIRECTIONS[core] : undefined;
  if (name === undefined) return undefined;
  const isDotted = chunks[at]?.after === '.';
  const isFirst =
    isHouseNumber(chunks, at - 1) || (isDotted && /^[1-9][0-9]{0,4}$/.test(coreAt(chunks, at - 1)));
  const house = houseNumberBefore(chunks, at);
  const isLast = house !== undefined && joined(chunks, at - 1) && streetEnd(chunks, house) === at - 1;
  return isFirst || isLast ? { spoken: [name], ...(isDotted && isFirst && { after: '' }) } : undefined;
}

/** "2 San Tomas hwy" → "Highway". Kinds with a capital after a name are read by the abbreviations as well. */
function streetKind(chunks: readonly Chunk[], at: number): Reading | undefined {
  const written = coreAt(chunks, at).toLowerCase();
  const name = Object.hasOwn(STREETS, written) ? STREETS[written] : undefined;
  const house = name === undefined ? undefined : houseNumberBefore(chunks, at);
  if (name === undefined || house === undefined || streetEnd(chunks, house) !== at) return undefined;
  return { spoken: [name], after: keptDot(chunks, at, true) };
}

/** "Santa Clara, CA 95051" → "California". */
function state(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  const name = STATES.get(core);
  if (name === undefined || !/^\p{Lu}\p{Ll}/u.test(coreAt(chunks, at - 1))) return undefined;
  const hasZip = ZIP.test(coreAt(chunks, at + 1)) && joined(chunks, at, ',');
  if (hasZip) return { spoken: [name] };
  const isAfterTown = chunks[at - 1]?.after === ',' && chunks[at]?.before === '';
  return isAfterTown && !AMBIGUOUS_STATES.has(core) ? { spoken: [name] } : undefined;
}

/** "CA 95051" and "ZIP code 95051" → digit by digit. */
function zip(chunks: readonly Chunk[], at: number): Reading | undefined {
  const core = coreAt(chunks, at);
  if (!ZIP.test(core) || at === 0 || !joined(chunks, at - 1, ',')) return undefined;
  const [previous, earlier] = [coreAt(chunks, at - 1), coreAt(chunks, at - 2)];
  const isNamed = /^zip$/i.test(previous) || (/^code$/i.test(previous) && /^(?:zip|postal)$/i.test(earlier));
  const isAfterState = STATES.has(previous) || [...STATES.values()].includes(previous);
  if (!isNamed && !isAfterState) return undefined;
  return { spoken: [core.split('-').map(digitByDigit).join(', ')] };
}
