/** Builder for llama.cpp grammars (GBNF). It stays within the limits of llama.cpp, which crashes on invalid grammars. */

import { UnsupportedSchemaError } from './schema-values.ts';

/** llama.cpp supports fewer than 2000 repetitions. */
export const MAX_REPEATED = 1999;
/**
 * Maximum characters of an unlimited string per token of the response. Text has four or more characters per token, so that
 * an endless string leaves tokens for the rest of the response.
 */
const CHARACTERS_OF_A_TOKEN = 3;
/** Block size in which characters of longer strings are counted. */
const BLOCK = 64;

/**
 * Models were trained on JSON with a space after these. Without it, they choose worse values. These rules come first: llama.cpp counts a
 * rule that a repeated list is the first to name as one of that list.
 */
const SEPARATORS: Readonly<Record<string, string>> = {
  colon: '":" " "?',
  comma: '"," " "?',
};

/** Rules that every grammar may use, in addition to `string`. */
const SHARED: Readonly<Record<string, string>> = {
  character: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\bfnrt]',
  integer: '"-"? ([0-9] | [1-9] [0-9]{1,14})',
  number: 'integer ("." [0-9]{1,17})? ([eE] [+-]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  block: `character{${BLOCK}}`,
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  member: 'string colon value',
  object: '"{" (member (comma member)*)? "}"',
  array: '"[" (value (comma value)*)? "]"',
};

/** Maximum list length: llama.cpp counts the rules of a list twice. */
export const MAX_LISTED = 999;
/** Maximum number of rules that llama.cpp creates for the repetitions of one grammar. */
const MAX_REPETITIONS = 20_000;
/** Far more than any schema needs that a model can follow. */
const MAX_CHARACTERS = 400_000;
/**
 * Work limit of one grammar, in keywords, names, values and pattern characters. The server thread does this work. The limit
 * is about twice the cost of the largest schema without repeated references.
 */
const MAX_STEPS = 50_000;
/**
 * Maximum number of alternatives at the start of a rule. llama.cpp follows all of them for each token, and nested choices
 * multiply. Twice the number of choices of a schema.
 */
const MAX_WAYS = 2000;
/** Unassigned planes of Unicode. */
const RARE = /[\u{40000}-\u{DFFFF}]/gu;
/** Texts without characters that JSON or a grammar escapes. */
const PLAIN = /^[\w $@./:,+-]*$/;
const CONTROLS = /\p{Cc}/gu;

/** A grammar literal. */
export function literal(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(CONTROLS, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}

/** A literal of a value as JSON. Characters that a vocabulary may lack are escaped, because llama.cpp would crash. */
export function jsonLiteral(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"\\"${value}\\""`;
  const escaped = (character: string) => {
    const units = [character.charCodeAt(0), character.charCodeAt(1)];
    return units.map((unit) => `\\u${unit.toString(16)}`).join('');
  };
  return literal(JSON.stringify(value).replace(RARE, escaped));
}

/** A grammar under construction. */
export class Grammar {
  /** Maximum characters of a string without a limit in its schema. */
  readonly maxCharacters: number;
  readonly #rules = new Map<string, string>();
  /** Rules by their body, so that identical rules are shared. */
  readonly #names = new Map<string, string>();
  /** Rules that may start a rule, before any character. A cycle is left recursion, which never produces output. */
  readonly #begins = new Map<string, readonly string[]>();
  /** Number of alternatives at the start of the rules that are already counted. */
  readonly #ways = new Map<string, number>();
  /** Rules by their source text. */
  readonly #read = new Map<string, string>();
  #characters = 0;
  #repetitions = 0;
  #steps = 0;

  /** @param room maximum tokens of the response. */
  constructor(room: number) {
    this.maxCharacters = room * CHARACTERS_OF_A_TOKEN;
  }

  /**
   * Adds a rule and returns its name.
   * @param begins rules that may start it.
   * @throws UnsupportedSchemaError when the grammar becomes too large.
   */
  add(name: string, body: string, begins: readonly string[] = []): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const rule = this.reserve(name);
    this.#names.set(body, rule);
    this.define(rule, body, begins);
    return rule;
  }

  /** Reserves a name for a rule that is defined later with {@link define}. */
  reserve(name: string): string {
    const rule = `${name}-${this.#rules.size}`;
    this.#rules.set(rule, '');
    return rule;
  }

  /** Caches the rule of a source text, because schemas may repeat a pattern. */
  once(text: string, read: () => string): string {
    const rule = this.#read.get(text) ?? read();
    this.#read.set(text, rule);
    return rule;
  }

  /**
   * Counts work on schemas.
   * @throws UnsupportedSchemaError when the limit is exceeded.
   */
  countSteps(count: number): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw new UnsupportedSchemaError('the schema is too complex');
  }

  /** @throws UnsupportedSchemaError when the grammar becomes too large. */
  define(rule: string, body: string, begins: readonly string[]): void {
    this.#characters += body.length;
    if (body.includes('{')) {
      for (const [, least = '', most = ''] of body.matchAll(/\{(\d+),?(\d*)\}/g)) {
        this.#repetitions += Number(most || least);
      }
    }
    if (this.#characters > MAX_CHARACTERS || this.#repetitions > MAX_REPETITIONS) {
      throw new UnsupportedSchemaError('the schema is too complex');
    }
    this.#rules.set(rule, body);
    this.#begins.set(rule, begins);
  }

  /**
   * Checks all rules, because llama.cpp crashes on left recursion.
   * @throws UnsupportedSchemaError for left recursion, and for too many alternatives at the start of a rule.
   */
  checkLeftRecursion(): void {
    for (const rule of this.#begins.keys()) this.#waysOf(rule, new Set());
  }

  /** @param above rules that start with this one. */
  #waysOf(rule: string, above: Set<string>): number {
    const known = this.#ways.get(rule);
    if (known !== undefined) return known;
    if (above.has(rule))
      throw new UnsupportedSchemaError("'$ref' refers to itself without an intermediate value");
    const begins = this.#begins.get(rule) ?? [];
    let ways = 0;
    above.add(rule);
    for (const each of begins) ways += this.#waysOf(each, above);
    above.delete(rule);
    if (begins.length === 0) ways = alternativesOf(this.#rules.get(rule) ?? '');
    if (ways > MAX_WAYS) throw new UnsupportedSchemaError('too many alternatives at the start of a value');
    this.#ways.set(rule, ways);
    return ways;
  }

  /** The complete grammar as GBNF. @param root body of the start rule. */
  text(root: string): string {
    const string = `"\\"" ${upTo(this.maxCharacters)} "\\""`;
    const separators = Object.entries(SEPARATORS);
    const rules = [
      ...separators,
      ['root', root],
      ...this.#rules,
      ['string', string],
      ...Object.entries(SHARED),
    ];
    return rules.map(([name, body]) => `${name} ::= ${body}`).join('\n');
  }
}

/** At most this many characters, slightly more if they are counted in blocks, and never more than 128,000. */
function upTo(characters: number): string {
  if (characters <= MAX_REPEATED) return `character${times(0, characters)}`;
  return `block${times(0, Math.ceil(characters / BLOCK))} character{0,${BLOCK - 1}}`;
}

/** A repetition. A limit above that of llama.cpp is reduced to it. */
export function times(atLeast: number, atMost: number): string {
  if (atMost === Number.POSITIVE_INFINITY) return atLeast === 0 ? '*' : `{${atLeast},}`;
  return `{${atLeast},${Math.min(atMost, MAX_REPEATED)}}`;
}

/** Number of alternatives of a rule that references none at its start. All strings start with a quotation mark. */
function alternativesOf(body: string): number {
  return body.startsWith('"\\"" ') ? 1 : body.split(' | ').length;
}
