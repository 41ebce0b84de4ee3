/** Converts regular expressions of JSON Schema to a grammar for the contents of a JSON string. */

/** Inclusive range of code points. */
type Range = readonly [from: number, to: number];

/** A part of a pattern. */
interface Part {
  /** GBNF. */
  readonly grammar: string;
  /** Whether the part matches the empty string. */
  readonly empty: boolean;
  /** Number of rules that llama.cpp creates for the part. */
  readonly rules: number;
  /** Number of positions of a match within the part. llama.cpp tracks all of them concurrently. */
  readonly positions: number;
}

/** An unsupported part of a pattern. */
export class UnsupportedPatternError extends Error {
  override readonly name = 'UnsupportedPatternError';
}

const EMPTY: Part = { grammar: '', empty: true, rules: 0, positions: 0 };
const LAST = 0x10ffff;
const ALL: readonly Range[] = [[0, LAST]];
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
/** Characters that must be escaped in a JSON string, with their escape sequence. */
const ESCAPED: readonly (readonly [code: number, json: string])[] = [
  [0x22, '\\"'],
  [0x5c, '\\\\'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
];
/** Characters that a JSON string contains unescaped and that every vocabulary can generate. */
const RAW: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0x3ffff],
];
/** Maximum number of rules that llama.cpp creates for one repetition. It rejects grammars with more. */
const MAX_RULES = 1999;
/** Maximum number of positions of a repeated group. */
const MAX_POSITIONS = 256;
const MAX_CHARACTERS = 1000;

/**
 * Returns the GBNF of the strings that a pattern matches.
 * @param text rule of any characters.
 * @throws UnsupportedPatternError with the unsupported syntax.
 */
export function patternGrammar(pattern: string, text: string): string {
  if (pattern.length > MAX_CHARACTERS)
    throw new UnsupportedPatternError(`more than ${MAX_CHARACTERS} characters`);
  return new PatternReader(pattern, text).read();
}

class PatternReader {
  readonly #pattern: string;
  readonly #text: string;
  #at = 0;

  constructor(pattern: string, text: string) {
    this.#pattern = pattern;
    this.#text = text;
  }

  read(): string {
    const alternatives: string[] = [];
    do {
      const openStart = !this.#accept('^');
      const { grammar } = this.#sequence();
      const openEnd = !this.#accept('$');
      alternatives.push(
        [openStart ? this.#text : '', grammar, openEnd ? this.#text : ''].filter(Boolean).join(' '),
      );
    } while (this.#accept('|'));
    if (this.#at < this.#pattern.length) throw this.#issue();
    return alternatives.map((each) => each || '""').join(' | ');
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#pattern.length && !'|)$'.includes(this.#next)) parts.push(this.#repeated());
    return {
      grammar: parts.map(({ grammar }) => grammar).join(' '),
      empty: parts.every(({ empty }) => empty),
      rules: total(parts, 'rules'),
      positions: total(parts, 'positions'),
    };
  }

  #alternatives(): Part {
    const parts = [this.#sequence()];
    while (this.#accept('|')) parts.push(this.#sequence());
    const grammar = parts.map((part) => part.grammar || '""').join(' | ');
    return {
      grammar: `(${grammar})`,
      empty: parts.some(({ empty }) => empty),
      rules: 1 + total(parts, 'rules'),
      positions: total(parts, 'positions'),
    };
  }

  #repeated(): Part {
    const part = this.#atom();
    const times = this.#times();
    if (times === undefined) return part;
    // A lazy repetition matches the same strings as a greedy one.
    this.#accept('?');
    const [min, max] = times;
    const unlimited = max === Number.POSITIVE_INFINITY;
    if (part.empty && unlimited)
      throw new UnsupportedPatternError('a repetition of an expression that may be empty');
    if (max < min) throw this.#issue();
    if (max === 0) return EMPTY;
    const positions = part.positions * (unlimited ? min + 1 : max);
    if (part.positions > 1 && positions > MAX_POSITIONS)
      throw new UnsupportedPatternError('too many repetitions');
    if (Math.max(1, part.rules) * (unlimited ? Math.max(1, min) : max) > MAX_RULES) {
      throw new UnsupportedPatternError('too many repetitions');
    }
    return {
      grammar: `${part.grammar}{${min},${unlimited ? '' : max}}`,
      empty: part.empty || min === 0,
      rules: part.rules + (unlimited ? 1 : max - min),
      positions,
    };
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

  #atom(): Part {
    if (this.#accept('(')) {
      if (this.#next === '?' && this.#match(/\?(:|<[A-Za-z_]\w*>)/y) === undefined) {
        throw new UnsupportedPatternError('lookahead or lookbehind');
      }
      const group = this.#alternatives();
      if (!this.#accept(')')) throw this.#issue();
      return group;
    }
    if (this.#accept('[')) return characters(this.#class());
    if (this.#accept('.')) return characters(without(ALL, LINE_ENDS));
    if (this.#accept('\\')) return characters(this.#escape());
    const character = this.#next;
    if ('^*+?{})]'.includes(character)) throw this.#issue();
    this.#at += character.length;
    return characters([codeRange(character)]);
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

function total(parts: readonly Part[], count: 'rules' | 'positions'): number {
  return parts.reduce((sum, part) => sum + part[count], 0);
}

function codeRange(character: string): Range {
  const code = character.codePointAt(0) ?? 0;
  return [code, code];
}

/** One of these characters, as encoded in a JSON string. */
function characters(ranges: readonly Range[]): Part {
  const raw = normalized(ranges).flatMap(([from, to]) =>
    RAW.flatMap(([low, high]): Range[] =>
      low > to || high < from ? [] : [[Math.max(low, from), Math.min(high, to)]],
    ),
  );
  const escaped = ESCAPED.filter(([code]) => ranges.some(([from, to]) => from <= code && code <= to));
  const parts = escaped.map(([, json]) => `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  if (raw.length > 0) parts.unshift(`[${raw.map(rangeText).join('')}]`);
  if (parts.length === 0)
    throw new UnsupportedPatternError('a character class that no JSON string can contain');
  if (parts.length === 1) return { grammar: parts[0] ?? '', empty: false, rules: 0, positions: 1 };
  return { grammar: `(${parts.join(' | ')})`, empty: false, rules: 1, positions: 1 };
}

function rangeText([from, to]: Range): string {
  const code = (value: number) => `\\U${value.toString(16).padStart(8, '0')}`;
  return from === to ? code(from) : `${code(from)}-${code(to)}`;
}

/** The difference of two sets of characters, as sorted ranges. */
function without(ranges: readonly Range[], excluded: readonly Range[]): Range[] {
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
function normalized(ranges: readonly Range[]): Range[] {
  const ordered: Range[] = [];
  for (const [from, to] of ranges.length > 1 ? ranges.toSorted(([a], [b]) => a - b) : ranges) {
    const last = ordered.at(-1);
    if (last === undefined || from > last[1] + 1) ordered.push([from, to]);
    else ordered[ordered.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return ordered;
}
