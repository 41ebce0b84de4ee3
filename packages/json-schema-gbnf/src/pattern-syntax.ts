/** Parser for the regular expressions of JSON Schema. */

/** Inclusive range of code points. */
export type Range = readonly [from: number, to: number];

/** Limits of the number of characters. */
export interface LengthLimits {
  readonly min: number;
  readonly max: number;
}

/** A part of a pattern. `start` and `end` are the anchors `^` and `$`. */
export type PatternNode =
  | { readonly kind: 'characters'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence' | 'choice'; readonly of: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'start' | 'end' };

/** An unsupported part of a pattern. */
export class UnsupportedPatternError extends Error {
  override readonly name = 'UnsupportedPatternError';
}

/** The last code point. */
export const LAST = 0x10ffff;
/** All code points. */
export const ALL: readonly Range[] = [[0, LAST]];
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORDS: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x2028, 0x2029],
];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  D: without(ALL, DIGITS),
  w: WORDS,
  W: without(ALL, WORDS),
  s: SPACES,
  S: without(ALL, SPACES),
};
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b, b: 0x08 };
/** Maximum length of a pattern. */
const MAX_CHARACTERS = 1000;

/**
 * Parses a pattern.
 * @throws UnsupportedPatternError with the unsupported syntax.
 */
export function readPattern(pattern: string): PatternNode {
  if (pattern.length > MAX_CHARACTERS)
    throw new UnsupportedPatternError(`more than ${MAX_CHARACTERS} characters`);
  return new PatternReader(pattern).read();
}

/** The least and the greatest number of characters of the texts that match a pattern from their start to their end. */
export function lengthsOf(node: PatternNode): LengthLimits {
  switch (node.kind) {
    case 'characters':
      return { min: 1, max: 1 };
    case 'repeat': {
      const { min, max } = lengthsOf(node.of);
      return { min: min * node.min, max: max === 0 ? 0 : max * node.max };
    }
    case 'sequence': {
      const parts = node.of.map(lengthsOf);
      const sum = (limit: 'min' | 'max') => parts.reduce((total, part) => total + part[limit], 0);
      return { min: sum('min'), max: sum('max') };
    }
    case 'choice': {
      const parts = node.of.map(lengthsOf);
      return { min: Math.min(...parts.map(({ min }) => min)), max: Math.max(...parts.map(({ max }) => max)) };
    }
    default:
      return { min: 0, max: 0 };
  }
}

/** Numbers of characters to which repetitions are shortened. */
const SHORTENED_REPETITIONS = [1000, 500, 250, 120, 60, 30, 12, 8, 5, 3, 2];

/**
 * A pattern of fewer texts, of at most this length: its repetitions are shortened equally.
 * @param least fewest characters to which a repetition of single characters may be shortened.
 * @returns undefined if repetitions would become too short, or if the pattern does not match whole texts only.
 */
export function shortened(node: PatternNode, max: number, least: number): PatternNode | undefined {
  if (!isAnchored(node)) return undefined;
  if (lengthsOf(node).max <= max) return node;
  for (const most of SHORTENED_REPETITIONS) {
    const short = most < least ? undefined : withRepetitions(node, most);
    if (short !== undefined && lengthsOf(short).max <= max) return short;
  }
  return undefined;
}

/** The pattern with at most this many repetitions of single characters, and fewer of groups. */
function withRepetitions(node: PatternNode, most: number): PatternNode {
  if (node.kind === 'sequence' || node.kind === 'choice') {
    return { kind: node.kind, of: node.of.map((each) => withRepetitions(each, most)) };
  }
  if (node.kind !== 'repeat') return node;
  const limit = node.of.kind === 'characters' ? most : Math.ceil(Math.sqrt(most));
  const of = withRepetitions(node.of, limit);
  return { kind: 'repeat', of, min: node.min, max: Math.max(node.min, Math.min(node.max, limit)) };
}

/** If a pattern matches the texts of one set of characters within limits of the length: the set and the limits. */
export function repeatedCharacters(
  node: PatternNode,
): { readonly pattern: PatternNode; readonly limits: LengthLimits } | undefined {
  if (node.kind !== 'sequence' || node.of.length !== 3 || !isAnchored(node)) return undefined;
  const [start, repeat, end] = node.of as [PatternNode, PatternNode, PatternNode];
  if (repeat.kind !== 'repeat' || repeat.of.kind !== 'characters') return undefined;
  const any: PatternNode = { kind: 'repeat', of: repeat.of, min: 0, max: Number.POSITIVE_INFINITY };
  const pattern: PatternNode = { kind: 'sequence', of: [start, any, end] };
  return { pattern, limits: { min: repeat.min, max: repeat.max } };
}

/** Whether a pattern matches only whole texts, because it starts and ends with anchors. */
export function isAnchored(node: PatternNode): boolean {
  if (node.kind === 'choice') return node.of.every(isAnchored);
  return node.kind === 'sequence' && node.of[0]?.kind === 'start' && node.of.at(-1)?.kind === 'end';
}

class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#pattern.length) throw this.#issue();
    return node;
  }

  #choice(): PatternNode {
    const of = [this.#sequence()];
    while (this.#accept('|')) of.push(this.#sequence());
    return of.length === 1 ? (of[0] as PatternNode) : { kind: 'choice', of };
  }

  #sequence(): PatternNode {
    const of: PatternNode[] = [];
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#next)) of.push(this.#repeated());
    return { kind: 'sequence', of };
  }

  #repeated(): PatternNode {
    if (this.#accept('^')) return { kind: 'start' };
    if (this.#accept('$')) return { kind: 'end' };
    const of = this.#atom();
    const times = this.#times();
    if (times === undefined) return of;
    // A lazy repetition matches the same strings as a greedy one.
    this.#accept('?');
    const [min, max] = times;
    if (max < min) throw this.#issue();
    return { kind: 'repeat', of, min, max };
  }

  #times(): readonly [min: number, max: number] | undefined {
    if (!'*+?{'.includes(this.#next || ' ')) return undefined;
    if (this.#accept('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#accept('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#accept('?')) return [0, 1];
    const [all, min, comma, max] = this.#match(/\{(\d{1,6})(,?)(\d{0,6})\}/y) ?? [];
    if (all === undefined) return undefined;
    if (!comma) return [Number(min), Number(min)];
    return [Number(min), max ? Number(max) : Number.POSITIVE_INFINITY];
  }

  #atom(): PatternNode {
    if (this.#accept('(')) {
      if (this.#next === '?' && this.#match(/\?(:|<[A-Za-z_]\w*>)/y) === undefined) {
        throw new UnsupportedPatternError('lookahead or lookbehind');
      }
      const group = this.#choice();
      if (!this.#accept(')')) throw this.#issue();
      return group;
    }
    return { kind: 'characters', ranges: this.#characters() };
  }

  #characters(): readonly Range[] {
    if (this.#accept('[')) return this.#class();
    if (this.#accept('.')) return without(ALL, LINE_ENDS);
    if (this.#accept('\\')) return this.#escape();
    const character = this.#next;
    // As in ECMAScript without the flag `u`, a bracket that opens nothing stands for itself.
    if ('*+?)'.includes(character)) throw this.#issue();
    this.#at += character.length;
    return [codeRange(character)];
  }

  #class(): readonly Range[] {
    const negated = this.#accept('^');
    const ranges: Range[] = [];
    while (!this.#accept(']')) {
      const from = this.#member();
      if (this.#next !== '-' || this.#pattern[this.#at + 1] === ']') {
        ranges.push(...from);
        continue;
      }
      this.#at += 1;
      const to = this.#member();
      const [[low] = [LAST]] = from;
      const [[high] = [0]] = to;
      if (from.length !== 1 || to.length !== 1 || low > high) throw this.#issue();
      ranges.push([low, high]);
    }
    return negated ? without(ALL, ranges) : ranges;
  }

  #member(): readonly Range[] {
    if (this.#at >= this.#pattern.length) throw this.#issue();
    if (this.#accept('\\')) return this.#escape();
    const character = this.#next;
    this.#at += character.length;
    return [codeRange(character)];
  }

  #escape(): readonly Range[] {
    const letter = this.#next;
    this.#at += letter.length;
    const known = CLASSES[letter];
    if (known !== undefined) return known;
    const control = CONTROLS[letter];
    // Rejected below: outside a class, `\b` is a word boundary.
    if (control !== undefined && letter !== 'b') return [[control, control]];
    const digits = letter === 'u' ? /(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})/y : /([0-9A-Fa-f]{2})/y;
    if (letter === 'u' || letter === 'x') {
      const [, plain, braced] = this.#match(digits) ?? [];
      const code = Number.parseInt(plain ?? braced ?? '', 16);
      if (!(code <= LAST)) throw this.#issue();
      return [[code, code]];
    }
    if (/^[A-Za-z0-9]?$/.test(letter)) throw new UnsupportedPatternError(`\\${letter}`);
    return [codeRange(letter)];
  }

  get #next(): string {
    const code = this.#pattern.codePointAt(this.#at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #accept(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += character.length;
    return true;
  }

  /** @param expression must have the sticky flag. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern);
    if (found) this.#at += found[0].length;
    return found ?? undefined;
  }

  #issue(): UnsupportedPatternError {
    return new UnsupportedPatternError(
      `unsupported syntax at character ${[...this.#pattern.slice(0, this.#at)].length + 1}`,
    );
  }
}

function codeRange(character: string): Range {
  const code = character.codePointAt(0) ?? 0;
  return [code, code];
}

/** The difference of two sets of characters, as sorted ranges. */
export function without(ranges: readonly Range[], excluded: readonly Range[]): Range[] {
  const left: Range[] = [];
  const holes = normalized(excluded);
  let passed = 0;
  for (const [from, to] of normalized(ranges)) {
    while ((holes[passed]?.[1] ?? LAST) < from) passed += 1;
    let low = from;
    for (let i = passed; (holes[i]?.[0] ?? Number.POSITIVE_INFINITY) <= to; i += 1) {
      const [start, end] = holes[i] as Range;
      if (start > low) left.push([low, start - 1]);
      low = end + 1;
    }
    if (low <= to) left.push([low, to]);
  }
  return left;
}

/** Sorts ranges and merges overlapping or adjacent ones. */
export function normalized(ranges: readonly Range[]): Range[] {
  const ordered: Range[] = [];
  for (const [from, to] of ranges.length > 1 ? ranges.toSorted(([a], [b]) => a - b) : ranges) {
    const last = ordered.at(-1);
    if (last === undefined || from > last[1] + 1) ordered.push([from, to]);
    else ordered[ordered.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return ordered;
}
