/**
 * Reads what no other reader matched: words that contain digits, signs or capitals ("GPT4", "snake_case",
 * "AT&T", "and/or", "C++", "wait…what"). One scan over the groups of letters, digits and signs.
 */

import { figures } from './digits.ts';
import { cardinal, digitByDigit } from './numbers.ts';

/** Spoken form of signs between or next to words. An empty string only separates words. */
const SIGNS: Readonly<Record<string, string>> = {
  '&': 'and',
  '@': 'at',
  '#': 'hash',
  '+': 'plus',
  '=': 'equals',
  '%': 'percent',
  '§': 'section',
  '№': 'number',
  $: 'dollar',
  '€': 'euro',
  '£': 'pound',
  '¥': 'yen',
  '¢': 'cent',
  '°': 'degrees',
  '©': 'copyright',
  '→': 'to',
  '⇒': 'implies',
  '←': 'from',
  '↔': 'to and from',
  '×': 'times',
  '÷': 'divided by',
  '−': 'minus',
  '±': 'plus or minus',
  '≈': 'is about',
  '≠': 'is not equal to',
  '≤': 'is at most',
  '≥': 'is at least',
  '<': 'less than',
  '>': 'greater than',
  '∞': 'infinity',
  '√': 'square root of',
  '∑': 'sum of',
  '∫': 'integral of',
  '∂': 'partial',
  '∈': 'in',
  '²': 'squared',
  '³': 'cubed',
  µ: 'micro',
  '^': 'to the power of',
  '½': 'one half',
  '¼': 'one quarter',
  '¾': 'three quarters',
};
/** Greek letters, read by name in formulas. */
const GREEK =
  'α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi ο omicron ' +
  'π pi ρ rho σ sigma ς sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega';
const GREEK_NAMES: ReadonlyMap<string, string> = pairsOf(GREEK.split(' '));
/** Punctuation that is audible as a pause and is kept. */
const PAUSES = new Set([...',;:!?…—']);
/** Names with signs that the rules would read incorrectly. */
const FIXED: Readonly<Record<string, string>> = {
  'c#': 'C sharp',
  'f#': 'F sharp',
  'i/o': 'I O',
  '401(k)': 'four oh one K',
  yoy: 'year over year',
  'q&a': 'Q and A',
  '=>': 'to',
  '->': 'to',
  '<-': 'from',
  '<->': 'to and from',
  '>=': 'is at least',
  '<=': 'is at most',
  '!=': 'is not equal to',
  '==': 'equals',
  '===': 'equals',
  '&&': 'and',
  '||': 'or',
  ':)': '',
  ':-)': '',
  ':d': '',
  ';)': '',
  ':(': '',
};

/** Whether a word is in the dictionary as written. */
export type IsWord = (word: string) => boolean;

/**
 * Reads one core. The result may contain pauses ("—", ",") followed by spaces. Linear in the length of
 * `core`.
 * @param core text without white space and without outer punctuation.
 */
export function readCompound(core: string, isWord: IsWord): string {
  const fixed = Object.hasOwn(FIXED, core.toLowerCase()) ? FIXED[core.toLowerCase()] : undefined;
  if (fixed !== undefined) return fixed;
  const runs =
    core
      .replace(/\((e?s)\)/g, '$1')
      .match(
        /[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*|[0-9]+(?:[.,][0-9]+)*(?:(?:st|nd|rd|th|s)(?!\p{L}))?|[^\p{L}\p{M}0-9]/gu,
      ) ?? [];
  const out: string[] = [];
  for (let i = 0; i < runs.length; i++) out.push(...readRun(runs, i, isWord));
  return assemble(out);
}

function readRun(runs: readonly string[], at: number, isWord: IsWord): string[] {
  const run = runs[at] ?? '';
  if (/^[A-Z]{1,3}$/.test(run) && (runs[at - 1] === '&' || runs[at + 1] === '&')) return [...run];
  if (/^[\p{L}\p{M}]/u.test(run)) return readLetters(run, isWord);
  if (/^[0-9]/.test(run)) return readDigits(run);
  return readSign(runs, at, run);
}

/** Digits inside a word: as a number, or digit by digit for codes. */
function readDigits(digits: string): string[] {
  const spoken =
    figures(digits) ??
    digits
      .split(/[.,]/)
      .map(group)
      .join(digits.includes(',') ? ', ' : ' point ');
  return [spoken];
}

function group(digits: string): string {
  return digits.length > 4 || digits.startsWith('0') ? digitByDigit(digits) : cardinal(digits || '0');
}

function readSign(runs: readonly string[], at: number, sign: string): string[] {
  const [before = '', after = ''] = [runs[at - 1], runs[at + 1]];
  if (sign === before) return PAUSES.has(sign) || sign === '.' || !'+'.includes(sign) ? [] : ['plus'];
  const wordBefore = /[\p{L}\p{M}]$/u.test(before);
  const wordAfter = /^[\p{L}\p{M}]/u.test(after);
  if (sign === '-' && runs.includes('=') && /^[0-9]/.test(before) && /^[0-9]/.test(after)) return ['minus'];
  if (sign === '-')
    return wordBefore && wordAfter ? ['-'] : /^[0-9]/.test(after) && at === 0 ? ['minus'] : [];
  if (sign === '–') return wordBefore && wordAfter ? ['—'] : [];
  if (sign === '.') return dotBetween(before, after);
  if (sign === '*') return /[0-9)]$/.test(before) && /^[0-9(]/.test(after) ? ['times'] : [];
  if (sign === '#' && wordAfter) return ['hashtag'];
  if (sign === '~') return /^[0-9]/.test(after) ? ['about'] : [];
  // Brackets inside a word are notation, not a parenthesis: "f(x)".
  if (sign === '(' || sign === ')') return [];
  if (PAUSES.has(sign)) return sign === ':' && before === '' ? [] : [sign];
  const named = Object.hasOwn(SIGNS, sign) ? SIGNS[sign] : undefined;
  return named === undefined ? [] : [named];
}

/** The dot of "Node.js" is spoken; that of "end.Next" separates sentences; "wait...what" has a pause. */
function dotBetween(before: string, after: string): string[] {
  if (after === '.') return ['…'];
  if (before === '' || before === '.') return before === '' && /^\p{L}/u.test(after) ? ['dot'] : [];
  if (/^\p{Lu}\p{Ll}/u.test(after) && /\p{Ll}{2}$/u.test(before)) return ['.'];
  return after === '' ? ['.'] : ['dot'];
}

/** A group of letters: unchanged if the dictionary has it, otherwise split at capitals. */
function readLetters(run: string, isWord: IsWord): string[] {
  const greek = GREEK_NAMES.get(run.toLowerCase());
  if (greek !== undefined) return [greek];
  if (!/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(run) || isWord(run)) return [run];
  if (/^\p{Lu}{2,6}(?:'?s)$/u.test(run) || /^(?:Mc|Mac|O')\p{Lu}\p{Ll}+$/u.test(run)) return [run];
  return run.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
}

/** Joins words with spaces, without a space before a pause and around a hyphen. */
function assemble(pieces: readonly string[]): string {
  const out: string[] = [];
  pieces.forEach((piece, i) => {
    const tight = i === 0 || piece === '-' || pieces[i - 1] === '-';
    const closing = piece === '.' || (PAUSES.has(piece) && piece !== '—');
    out.push(tight || closing ? piece : ` ${piece}`);
  });
  return out.join('');
}

function pairsOf(list: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (let i = 0; i + 1 < list.length; i += 2) pairs.set(list[i] ?? '', list[i + 1] ?? '');
  return pairs;
}
