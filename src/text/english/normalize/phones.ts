/** Reader for telephone numbers: digit by digit, with a pause between groups. */

import type { Chunk, Reading } from '../tokens.ts';
import { digitByDigit } from './numbers.ts';

/** Maximum number of chunks of one number: "+44 (0) 20 7946 0958". */
const MAX_CHUNKS = 6;
/** Group lengths of telephone numbers without a country code, and of payment cards. */
const SHAPES = new Set(['3-4', '3-3-4', '1-3-3-4', '4-4-4-4', '4-6-5']);

/** Reads "555-1234", "(555) 123-4567", "555.123.4567", "+1 555 123 4567", "1-800-555-0199". */
export function readPhone(chunks: readonly Chunk[], at: number): Reading | undefined {
  const first = chunks[at];
  if (first === undefined || !/^\+?[0-9]/.test(first.core)) return undefined;
  const groups: string[][] = [];
  let reading: Reading | undefined;
  while (groups.length < MAX_CHUNKS) {
    const chunk = chunks[at + groups.length];
    if (chunk === undefined || !/^\+?[0-9][0-9().-]{0,18}$/.test(chunk.core)) break;
    groups.push(chunk.core.match(/[0-9]+/g) ?? []);
    if (isPhone(groups, first)) {
      reading = { spoken: dictated(groups, first.core), ...(first.after === ')' ? { before: '' } : {}) };
    }
    if (chunk.after !== '' && !(chunk.after === ')' && chunk.before === '(')) break;
  }
  return reading;
}

/** @param chunks the groups of digits of each chunk. */
function isPhone(chunks: readonly (readonly string[])[], first: Chunk): boolean {
  const groups = chunks.flat();
  const digits = groups.reduce((sum, group) => sum + group.length, 0);
  if (first.core.startsWith('+')) return digits >= 8 && digits <= 15 && groups.length > 1;
  if (first.core.includes('.') && groups.length === 2) return false;
  const shape = groups.map((group) => group.length).join('-');
  if (shape === '3-4') return chunks.length === 1 && first.core[3] === '-';
  return SHAPES.has(shape);
}

/** The spoken digits of each chunk. */
function dictated(chunks: readonly (readonly string[])[], written: string): string[] {
  return chunks.map((groups, i) => {
    const spoken = groups
      .map((group) => (group === '800' ? 'eight hundred' : digitByDigit(group)))
      .join(', ');
    return `${i === 0 && written.startsWith('+') ? 'plus ' : ''}${spoken}${i < chunks.length - 1 ? ',' : ''}`;
  });
}
