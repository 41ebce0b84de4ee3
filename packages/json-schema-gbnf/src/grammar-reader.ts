/** Parser for the GBNF that `src/engines/llama/grammar/grammar.ts` generates. */

export type GrammarPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly ranges: readonly CodeRange[]; readonly negated: boolean }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'choice'; readonly of: readonly GrammarPart[] }
  | { readonly kind: 'sequence'; readonly of: readonly GrammarPart[] }
  | RepeatedPart;

/** @property max `Infinity` for an unlimited repetition. */
export interface RepeatedPart {
  readonly kind: 'repeat';
  readonly of: GrammarPart;
  readonly min: number;
  readonly max: number;
}

/** Inclusive range of code points. */
type CodeRange = readonly [from: number, to: number];

const SIGNS: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
};

/**
 * Parses the rules of a grammar by their names.
 * @throws Error for an invalid grammar.
 */
export function readGrammar(grammar: string): Map<string, GrammarPart> {
  const rules = grammar.split('\n').map((line): [string, GrammarPart] => {
    const [begin = '', name = ''] = /^([a-z0-9-]+) ::= /.exec(line) ?? [];
    return [name, new RuleReader(line.slice(begin.length)).read()];
  });
  return new Map(rules);
}

class RuleReader {
  readonly #body: string;
  #at = 0;

  constructor(body: string) {
    this.#body = body;
  }

  read(): GrammarPart {
    const part = this.#choice();
    if (this.#at < this.#body.length) throw new Error(`Invalid grammar: unexpected input at ${this.#at}.`);
    return part;
  }

  #choice(): GrammarPart {
    const of = [this.#sequence()];
    while (this.#match(/ *\| */y)) of.push(this.#sequence());
    return only(of) ?? { kind: 'choice', of };
  }

  #sequence(): GrammarPart {
    const of: GrammarPart[] = [];
    for (;;) {
      this.#match(/ +/y);
      const part = this.#single();
      if (part === undefined) return only(of) ?? { kind: 'sequence', of };
      of.push(this.#repeated(part));
    }
  }

  #repeated(of: GrammarPart): GrammarPart {
    const [sign, fewest, comma, highest] = this.#match(/[*+?]|\{(\d+)(,?)(\d*)\}/y) ?? [];
    if (sign === undefined) return of;
    const min = Number(fewest);
    const [low, high] = SIGNS[sign] ?? [
      min,
      !comma ? min : highest ? Number(highest) : Number.POSITIVE_INFINITY,
    ];
    return { kind: 'repeat', of, min: low, max: high };
  }

  #single(): GrammarPart | undefined {
    if (this.#match(/"/y)) {
      let text = '';
      while (!this.#match(/"/y)) text += String.fromCodePoint(this.#character());
      return { kind: 'text', text };
    }
    if (this.#match(/\[/y)) {
      const negated = this.#match(/\^/y) !== undefined;
      const ranges: CodeRange[] = [];
      while (!this.#match(/\]/y)) {
        const from = this.#character();
        ranges.push([from, this.#match(/-(?!\])/y) ? this.#character() : from]);
      }
      return { kind: 'class', ranges, negated };
    }
    if (this.#match(/\(/y)) {
      const part = this.#choice();
      if (!this.#match(/ *\)/y)) throw new Error(`Invalid grammar: missing bracket at ${this.#at}.`);
      return part;
    }
    const [name] = this.#match(/[a-z][a-z0-9-]*/y) ?? [];
    return name === undefined ? undefined : { kind: 'rule', name };
  }

  #character(): number {
    const [, x, u, U, escaped, plain] =
      this.#match(/\\x([\dA-Fa-f]{2})|\\u([\dA-Fa-f]{4})|\\U([\dA-Fa-f]{8})|\\(["\\[\]])|([^\\])/uy) ?? [];
    const code = x ?? u ?? U;
    if (code !== undefined) return Number.parseInt(code, 16);
    const [character] = escaped ?? plain ?? [];
    if (character === undefined) throw new Error(`Invalid grammar: invalid character at ${this.#at}.`);
    return character.codePointAt(0) ?? 0;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#body);
    this.#at += found?.[0].length ?? 0;
    return found ?? undefined;
  }
}

function only<Part>(parts: readonly Part[]): Part | undefined {
  return parts.length === 1 ? parts[0] : undefined;
}
