/** Reader for unambiguous Roman numerals: "Chapter IV", "World War II", "Henry VIII". */

import { type Chunk, coreAt, joined, type Reading } from '../tokens.ts';
import { cardinal, ordinal } from './numbers.ts';

/** Nouns that are followed by a cardinal: "chapter four". */
const COUNTED = new Set(
  (
    'chapter part volume act scene section book phase type class article appendix level stage grade war ' +
    'bowl title step unit tier mark episode season table figure annex vol'
  ).split(' '),
);
/** Names of rulers and popes, followed by an ordinal: "Henry the Eighth". */
const RULERS = new Set(
  (
    'henry louis george elizabeth charles william edward richard james philip pius paul benedict gregory leo ' +
    'napoleon frederick catherine alexander nicholas peter ivan john clement innocent urban francis ' +
    'ferdinand victoria mary margaret christian carl gustav haakon harald olav juan felipe pedro ptolemy ' +
    'ramses rameses darius xerxes constantine leopold otto stephen'
  ).split(' '),
);
/** Capitalized words at the start of a sentence that do not precede a numeral: "The IV". */
const NOT_COUNTED = new Set('the an in on at my your his her this that use with via no any each'.split(' '));
const VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };
/** Canonical numerals below 90, to reject "IIX" and words such as "MIX". */
const ONES = ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'] as const;
const TENS = ['', 'X', 'XX', 'XXX', 'XL', 'L', 'LX', 'LXX', 'LXXX'] as const;
/** Words after "Elizabeth I" that show that the I is not the pronoun. */
const AFTER_FIRST = new Set([
  'of',
  'was',
  'and',
  'had',
  'in',
  'reigned',
  'ruled',
  'died',
  'became',
  'who',
  'is',
]);

/** Reads a numeral according to the word before it. */
export function readRoman(chunks: readonly Chunk[], at: number): Reading | undefined {
  const value = romanValue(coreAt(chunks, at));
  if (value === undefined || at === 0 || !joined(chunks, at - 1)) return undefined;
  const previous = coreAt(chunks, at - 1);
  if (!/^\p{Lu}/u.test(previous)) return undefined;
  const word = previous.toLowerCase();
  if (NOT_COUNTED.has(word)) return undefined;
  if (COUNTED.has(word)) return { spoken: [cardinal(String(value))] };
  if (!RULERS.has(word))
    return isPlainNumeral(coreAt(chunks, at)) ? { spoken: [cardinal(String(value))] } : undefined;
  if (value === 1 && !standsAlone(chunks, at)) return undefined;
  return { spoken: [`the ${ordinal(String(value))}`] };
}

/** "Apollo XI", "Rocky IV": at least two letters that are not a common abbreviation. */
function isPlainNumeral(letters: string): boolean {
  return letters.length > 1 && /^[IVX]+$/.test(letters) && letters !== 'XX' && letters !== 'XXX';
}

function standsAlone(chunks: readonly Chunk[], at: number): boolean {
  const next = chunks[at + 1];
  return next === undefined || chunks[at]?.after !== '' || AFTER_FIRST.has(next.core);
}

/** @returns 1–89, or undefined if the letters are not a well-formed numeral. */
function romanValue(letters: string): number | undefined {
  if (letters.length === 0 || letters.length > 8) return undefined;
  let value = 0;
  for (let i = 0; i < letters.length; i++) {
    const digit = VALUES[letters[i] ?? ''];
    if (digit === undefined) return undefined;
    value += digit < (VALUES[letters[i + 1] ?? ''] ?? 0) ? -digit : digit;
  }
  const canonical = `${TENS[Math.floor(value / 10)] ?? '?'}${ONES[value % 10] ?? '?'}`;
  return canonical === letters ? value : undefined;
}
