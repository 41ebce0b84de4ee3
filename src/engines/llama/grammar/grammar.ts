/** Grammars of llama.cpp (GBNF), put together rule by rule so that it can read them: one that it cannot ends its process. */

import { ValidationIssue } from './schema-merge.ts';

/** llama.cpp repeats less than 2000 times. */
export const MAX_REPEATED = 1999;
/**
 * Characters that a text without a limit may have for each token that its answer may have. Texts have four and more
 * of them to a token: one that would never end leaves some of the tokens to what comes after it.
 */
const CHARACTERS_OF_A_TOKEN = 3;
/** Characters of longer texts are counted so many at once. */
const BLOCK = 64;

/** Rules that every grammar may name, beside `string`. */
const SHARED: Readonly<Record<string, string>> = {
  byte: '"25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9] [0-9] | [0-9]',
  character: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\bfnrt]',
  integer: '"-"? ([0-9] | [1-9] [0-9]{1,14})',
  number: 'integer ("." [0-9]{1,9})?',
  boolean: '"true" | "false"',
  block: `character{${BLOCK}}`,
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  member: 'string ":" value',
  object: '"{" (member ("," member)*)? "}"',
  array: '"[" (value ("," value)*)? "]"',
};

/** It counts a list's rules twice, when it has not seen what is listed before. */
export const MAX_LISTED = 999;
/** Rules that llama.cpp makes of the repetitions of one grammar. */
const MAX_REPETITIONS = 20_000;
/** Far beyond what any schema needs that a model can follow. */
const MAX_CHARACTERS = 400_000;
/**
 * Keywords, names, values and characters of patterns that are looked at for one grammar, which is done on the serving
 * thread: some twice as many as the largest schema has whose parts are not named again and again.
 */
const MAX_LOOKS = 50_000;
/**
 * Ways to begin at one place, each of which llama.cpp goes for each token: choices of choices multiply where references name
 * them again. Twice as many as the choices that a schema may have.
 */
const MAX_WAYS = 2000;
/** Planes of Unicode in which nothing is assigned. */
const RARE = /[\u{40000}-\u{DFFFF}]/gu;
const CONTROLS = /\p{Cc}/gu;

/** A literal of the grammar. */
export function literal(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(CONTROLS, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}

/** A literal of a value as JSON. What a vocabulary may lack is escaped: what cannot be written ends the process. */
export function jsonLiteral(value: unknown): string {
  const escaped = (character: string) => {
    const units = [character.charCodeAt(0), character.charCodeAt(1)];
    return units.map((unit) => `\\u${unit.toString(16)}`).join('');
  };
  return literal(JSON.stringify(value).replace(RARE, escaped));
}

/** A grammar that is put together. */
export class Grammar {
  /** Characters of a text that its schema does not limit. */
  readonly maxCharacters: number;
  readonly #rules = new Map<string, string>();
  /** Rules by their body: what is the same stands there once. */
  readonly #names = new Map<string, string>();
  /** Rules that a rule may begin with, without a character before: where they go round, nothing is ever written. */
  readonly #begins = new Map<string, readonly string[]>();
  /** In how many ways rules may begin, of those of which it is known. */
  readonly #ways = new Map<string, number>();
  /** Rules by the text that they were read from. */
  readonly #read = new Map<string, string>();
  #characters = 0;
  #repetitions = 0;
  #looks = 0;

  /** @param room tokens that an answer may have. */
  constructor(room: number) {
    this.maxCharacters = room * CHARACTERS_OF_A_TOKEN;
  }

  /**
   * Adds a rule and gives the name that it has here.
   * @param begins rules that it may begin with.
   * @throws ValidationIssue when the grammar becomes too large.
   */
  add(name: string, body: string, begins: readonly string[] = []): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const rule = this.reserve(name);
    this.#names.set(body, rule);
    this.define(rule, body, begins);
    return rule;
  }

  /** Makes a name for a rule that {@link define} says later. */
  reserve(name: string): string {
    const rule = `${name}-${this.#rules.size}`;
    this.#rules.set(rule, '');
    return rule;
  }

  /** The rule that a text was read to, which is done once: schemas may name a text again and again. */
  once(text: string, read: () => string): string {
    const rule = this.#read.get(text) ?? read();
    this.#read.set(text, rule);
    return rule;
  }

  /**
   * Counts what of schemas is looked at.
   * @throws ValidationIssue when it is too much.
   */
  look(count: number): void {
    this.#looks += count;
    if (this.#looks > MAX_LOOKS) throw new ValidationIssue('it is too large');
  }

  /** @throws ValidationIssue when the grammar becomes too large. */
  define(rule: string, body: string, begins: readonly string[]): void {
    this.#characters += body.length;
    for (const [, least = '', most = ''] of body.matchAll(/\{(\d+),?(\d*)\}/g)) {
      this.#repetitions += Number(most || least);
    }
    if (this.#characters > MAX_CHARACTERS || this.#repetitions > MAX_REPETITIONS) {
      throw new ValidationIssue('it is too large');
    }
    this.#rules.set(rule, body);
    this.#begins.set(rule, begins);
  }

  /**
   * Looks at every rule, because one that llama.cpp cannot read or never comes through ends its process.
   * @throws ValidationIssue when what a rule may begin with leads back to it, and when there are too many ways to begin.
   */
  checkBegins(): void {
    for (const rule of this.#begins.keys()) this.#waysOf(rule, new Set());
  }

  /** @param above rules that begin with this one. */
  #waysOf(rule: string, above: Set<string>): number {
    const known = this.#ways.get(rule);
    if (known !== undefined) return known;
    if (above.has(rule)) throw new ValidationIssue("a '$ref' leads back to itself");
    const begins = this.#begins.get(rule) ?? [];
    let ways = 0;
    above.add(rule);
    for (const each of begins) ways += this.#waysOf(each, above);
    above.delete(rule);
    if (begins.length === 0) ways = this.#rules.get(rule)?.split(' | ').length ?? 1;
    if (ways > MAX_WAYS) throw new ValidationIssue('a value may begin in too many ways');
    this.#ways.set(rule, ways);
    return ways;
  }

  /** The whole grammar. @param root what a text of it is. */
  text(root: string): string {
    const string = `"\\"" ${upTo(this.maxCharacters)} "\\""`;
    const rules = [['root', root], ...this.#rules, ['string', string], ...Object.entries(SHARED)];
    return rules.map(([name, body]) => `${name} ::= ${body}`).join('\n');
  }
}

/** So many characters, a few more where they are counted in blocks, and never more than 128,000. */
function upTo(characters: number): string {
  if (characters <= MAX_REPEATED) return `character${times(0, characters)}`;
  return `block${times(0, Math.ceil(characters / BLOCK))} character{0,${BLOCK - 1}}`;
}

/** How often something may stand there; a limit beyond what llama.cpp repeats is that of llama.cpp. */
export function times(atLeast: number, atMost: number): string {
  if (atMost === Number.POSITIVE_INFINITY) return atLeast === 0 ? '*' : `{${atLeast},}`;
  return `{${atLeast},${Math.min(atMost, MAX_REPEATED)}}`;
}

/** A rule so many times, at most {@link MAX_LISTED}, with commas between. */
export function listOf(grammar: Grammar, rule: string, atLeast: number, atMost: number): string {
  const most = Math.min(atMost - 1, atMost === Number.POSITIVE_INFINITY ? atMost : MAX_LISTED);
  const tail = most === 0 ? '' : ` ("," ${rule})${times(Math.max(0, atLeast - 1), most)}`;
  if (atLeast > 0) return `${rule}${tail}`;
  // By its name: around a repetition, llama.cpp counts another one as their product.
  return `${grammar.add('list', `${rule}${tail}`)}?`;
}
