/** Converts regular expressions of JSON Schema to a grammar for the contents of a JSON string. */

/** Code points from one to another, both included. */
type Range = readonly [from: number, to: number];

/**
 * A part of a pattern: its grammar, whether it may be nothing, how many rules the library makes of it, and at how
 * many positions in it a text may be, which it all follows.
 */
interface Part {
  readonly grammar: string;
  readonly empty: boolean;
  readonly rules: number;
  readonly positions: number;
}

/** An unsupported part of a pattern. */
export class UnsupportedPatternError extends Error {
  override readonly name = 'UnsupportedPatternError';
}

const NOTHING: Part = { grammar: '', empty: true, rules: 0, positions: 0 };
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
/** Characters that a JSON string has to escape, as it does. */
const ESCAPED: readonly (readonly [code: number, json: string])[] = [
  [0x22, '\\"'],
  [0x5c, '\\\\'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
];
/** What stands in a JSON string as it is, and every vocabulary can write. */
const RAW: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0x3ffff],
];
/** Maximum number of rules that llama.cpp creates for one repetition. It rejects grammars with more. */
const MAX_RULES = 1999;
/** Places of a repeated group. */
const MAX_POSITIONS = 256;
const MAX_CHARACTERS = 1000;

/**
 * The strings that a pattern matches.
 * @param text rule of any characters.
 * @throws UnsupportedPatternError that names what cannot be had.
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
      const open = !this.#take('^');
      const { grammar } = this.#sequence();
      const goesOn = !this.#take('$');
      alternatives.push(
        [open ? this.#text : '', grammar, goesOn ? this.#text : ''].filter(Boolean).join(' '),
      );
    } while (this.#take('|'));
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
    while (this.#take('|')) parts.push(this.#sequence());
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
    // Which of several ways a text was matched does not matter here.
    this.#take('?');
    const [least, most] = times;
    const endless = most === Number.POSITIVE_INFINITY;
    if (part.empty && endless)
      throw new UnsupportedPatternError('a repetition of an expression that may be empty');
    if (most < least) throw this.#issue();
    if (most === 0) return NOTHING;
    const positions = part.positions * (endless ? least + 1 : most);
    if (part.positions > 1 && positions > MAX_POSITIONS)
      throw new UnsupportedPatternError('too many repetitions');
    if (Math.max(1, part.rules) * (endless ? Math.max(1, least) : most) > MAX_RULES) {
      throw new UnsupportedPatternError('too many repetitions');
    }
    return {
      grammar: `${part.grammar}{${least},${endless ? '' : most}}`,
      empty: part.empty || least === 0,
      rules: part.rules + (endless ? 1 : most - least),
      positions,
    };
  }

  #times(): readonly [least: number, most: number] | undefined {
    if (!'*+?{'.includes(this.#next || ' ')) return undefined;
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const [all, least, comma, most] = this.#match(/\{(\d{1,6})(,?)(\d{0,6})\}/y) ?? [];
    if (all === undefined) return undefined;
    if (!comma) return [Number(least), Number(least)];
    return [Number(least), most ? Number(most) : Number.POSITIVE_INFINITY];
  }

  #atom(): Part {
    if (this.#take('(')) {
      if (this.#next === '?' && this.#match(/\?(:|<[A-Za-z_]\w*>)/y) === undefined) {
        throw new UnsupportedPatternError('lookahead or lookbehind');
      }
      const group = this.#alternatives();
      if (!this.#take(')')) throw this.#issue();
      return group;
    }
    if (this.#take('[')) return characters(this.#class());
    if (this.#take('.')) return characters(without(ALL, LINE_ENDS));
    if (this.#take('\\')) return characters(this.#escape());
    const character = this.#next;
    if ('^*+?{})]'.includes(character)) throw this.#issue();
    this.#at += character.length;
    return characters([codeRange(character)]);
  }

  #class(): readonly Range[] {
    const negated = this.#take('^');
    const ranges: Range[] = [];
    while (!this.#take(']')) {
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
    if (this.#take('\\')) return this.#escape();
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
    // Outside a class `\b` is an edge of a word.
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

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += character.length;
    return true;
  }

  /** @param expression sticky. */
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

/** One of these characters, as a JSON string holds it. */
function characters(ranges: readonly Range[]): Part {
  const raw = inOrder(ranges).flatMap(([from, to]) =>
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

/** The first ranges less the second, in order. */
function without(ranges: readonly Range[], less: readonly Range[]): Range[] {
  const left: Range[] = [];
  const holes = inOrder(less);
  let passed = 0;
  for (const [from, to] of inOrder(ranges)) {
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

/** The same characters in ranges that follow each other. */
function inOrder(ranges: readonly Range[]): Range[] {
  const ordered: Range[] = [];
  for (const [from, to] of ranges.length > 1 ? ranges.toSorted(([a], [b]) => a - b) : ranges) {
    const last = ordered.at(-1);
    if (last === undefined || from > last[1] + 1) ordered.push([from, to]);
    else ordered[ordered.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return ordered;
}
