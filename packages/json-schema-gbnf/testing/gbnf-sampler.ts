/** Parses the subset of llama.cpp grammars that this project generates and samples random strings. */

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'class';
      readonly ranges: readonly (readonly [number, number])[];
      readonly negated: boolean;
    }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'choice'; readonly of: readonly Node[] }
  | { readonly kind: 'sequence'; readonly of: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly min: number; readonly max: number };

/** Candidates for negated character classes. */
const NEGATED_CANDIDATES = [...'abz09 ."\\{}[]<>éß漢😀'].map((character) => character.codePointAt(0) ?? 0);
/** Maximum number of optional repetitions in a sample. */
const MAX_EXTRA_REPETITIONS = 3;
/** Depth from which the shortest alternatives are used. */
const MAX_DEPTH = 12;

const STRING_OR_SEPARATOR = /("(?:[^"\\]|\\.)*")|([:,]) /g;

/** A text of JSON without the optional spaces after colons and commas. */
export function withoutSpaces(text: string): string {
  return text.replace(STRING_OR_SEPARATOR, '$1$2');
}

/** A parsed grammar. */
export class GbnfSampler {
  readonly #rules = new Map<string, Node>();
  readonly #heights = new Map<string, number>();

  /** @throws Error for an invalid grammar. */
  constructor(grammar: string) {
    for (const line of grammar.split('\n')) {
      const [, name = '', body = ''] = /^([a-z0-9-]+) ::= (.*)$/.exec(line) ?? [];
      if (name === '' || this.#rules.has(name)) throw new Error(`invalid or duplicate rule: ${line}`);
      this.#rules.set(name, new GbnfReader(body).read());
    }
    this.#measure();
  }

  /** A string of the grammar. @param random 0 to 1, as Math.random. */
  sample(random: () => number): string {
    return this.#draw(this.#rule('root'), random, 0);
  }

  #rule(name: string): Node {
    const node = this.#rules.get(name);
    if (node === undefined) throw new Error(`no rule ${name}`);
    return node;
  }

  #draw(node: Node, random: () => number, depth: number): string {
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'rule':
        return this.#draw(this.#rule(node.name), random, depth + 1);
      case 'sequence':
        return node.of.map((each) => this.#draw(each, random, depth)).join('');
      case 'choice': {
        const lowest = Math.min(...node.of.map((each) => this.#height(each)));
        const of = depth < MAX_DEPTH ? node.of : node.of.filter((each) => this.#height(each) === lowest);
        return this.#draw(pick(of), random, depth);
      }
      case 'repeat': {
        const max = depth < MAX_DEPTH ? Math.min(node.max, node.min + MAX_EXTRA_REPETITIONS) : node.min;
        const count = node.min + Math.floor(random() * (max - node.min + 1));
        return Array.from({ length: count }, () => this.#draw(node.of, random, depth)).join('');
      }
      case 'class': {
        const within = (code: number) => node.ranges.some(([from, to]) => from <= code && code <= to);
        if (node.negated)
          return String.fromCodePoint(pick(NEGATED_CANDIDATES.filter((code) => !within(code))));
        const [from, to] = pick(node.ranges);
        return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
      }
    }
  }

  /** Minimum depth of nested rules; infinite if no string ends. */
  #height(node: Node): number {
    switch (node.kind) {
      case 'rule':
        this.#rule(node.name);
        return (this.#heights.get(node.name) ?? Number.POSITIVE_INFINITY) + 1;
      case 'sequence':
        return Math.max(0, ...node.of.map((each) => this.#height(each)));
      case 'choice':
        return Math.min(...node.of.map((each) => this.#height(each)));
      case 'repeat':
        // Checks that the repeated rules exist.
        return node.min === 0 ? Math.min(0, this.#height(node.of)) : this.#height(node.of);
      default:
        return 0;
    }
  }

  #measure(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const [name, node] of this.#rules) {
        const height = this.#height(node);
        if (height >= (this.#heights.get(name) ?? Number.POSITIVE_INFINITY)) continue;
        this.#heights.set(name, height);
        changed = true;
      }
    }
  }
}

/** llama.cpp rejects a repetition for which it would create this many rules. */
const MAX_CREATED_RULES = 2000;

class GbnfReader {
  readonly #body: string;
  #at = 0;
  /** Rules that llama.cpp creates for the groups and repetitions so far. */
  #created = 0;

  constructor(body: string) {
    this.#body = body;
  }

  read(): Node {
    const node = this.#choice();
    if (this.#at < this.#body.length) throw new Error(`unparsed rest: ${this.#body.slice(this.#at)}`);
    return node;
  }

  #choice(): Node {
    const of = [this.#sequence()];
    while (this.#match(/^ *\| */)) of.push(this.#sequence());
    return of.length === 1 ? (of[0] as Node) : { kind: 'choice', of };
  }

  #sequence(): Node {
    const of: Node[] = [];
    for (;;) {
      this.#match(/^ +/);
      const before = this.#created;
      const atom = this.#atom();
      if (atom === undefined) return { kind: 'sequence', of };
      const repeated = this.#repeated(atom);
      of.push(repeated);
      if (repeated.kind !== 'repeat' || repeated === atom) continue;
      const limited = Number.isFinite(repeated.max);
      const count = (limited && repeated.max) || repeated.min || 1;
      if (Math.max(1, this.#created - before) * count >= MAX_CREATED_RULES) throw new Error('too many rules');
      this.#created += limited ? repeated.max - repeated.min : 1;
    }
  }

  #repeated(of: Node): Node {
    const endless = Number.POSITIVE_INFINITY;
    const [sign, min, comma, max] = this.#match(/^(?:[*+?]|\{(\d+)(,?)(\d*)\})/) ?? [];
    if (sign === undefined) return of;
    if (sign === '*') return { kind: 'repeat', of, min: 0, max: endless };
    if (sign === '+') return { kind: 'repeat', of, min: 1, max: endless };
    if (sign === '?') return { kind: 'repeat', of, min: 0, max: 1 };
    const upTo = !comma ? Number(min) : max ? Number(max) : endless;
    if (upTo < Number(min) || (upTo !== endless && upTo > 1999)) throw new Error(`not a repetition: ${sign}`);
    return { kind: 'repeat', of, min: Number(min), max: upTo };
  }

  #atom(): Node | undefined {
    if (this.#match(/^"/)) {
      let text = '';
      while (!this.#match(/^"/)) text += String.fromCodePoint(this.#character());
      return { kind: 'text', text };
    }
    if (this.#match(/^\[/)) {
      const negated = this.#match(/^\^/) !== undefined;
      const ranges: (readonly [number, number])[] = [];
      while (!this.#match(/^\]/)) {
        const from = this.#character();
        const to = /^-[^\]]/.test(this.#body.slice(this.#at)) && this.#match(/^-/) ? this.#character() : from;
        ranges.push([from, to]);
      }
      return { kind: 'class', ranges, negated };
    }
    if (this.#match(/^\(/)) {
      this.#created += 1;
      const node = this.#choice();
      if (!this.#match(/^ *\)/)) throw new Error(`no closing bracket: ${this.#body}`);
      return node;
    }
    const [name] = this.#match(/^[a-z][a-z0-9-]*/) ?? [];
    return name === undefined ? undefined : { kind: 'rule', name };
  }

  #character(): number {
    const [, x, u, U, escaped, plain] =
      this.#match(
        /^(?:\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\([trn\\"[\]])|([^\\]))/u,
      ) ?? [];
    const code = x ?? u ?? U;
    if (code !== undefined) return Number.parseInt(code, 16);
    const known = { t: '\t', r: '\r', n: '\n' }[escaped ?? ''] ?? escaped ?? plain;
    if (known === undefined) throw new Error(`not a character: ${this.#body.slice(this.#at)}`);
    return known.codePointAt(0) ?? 0;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.#body.slice(this.#at));
    this.#at += found?.[0].length ?? 0;
    return found ?? undefined;
  }
}
