/** Completes a truncated response with the shortest end that its grammar allows. */

import { type GrammarPart, readGrammar } from './grammar-reader.ts';
import { inClass, PrefixParser, type Rest, ruleOf } from './prefix-parser.ts';

/** Maximum length of the end. A response that needs a longer end remains truncated. */
const MAX_CHARACTERS = 16_384;
/** Candidates for the character that is written for a negated class: space, `0` and `a`. */
const NEGATED_CLASS_CHARACTERS = [0x20, 0x30, 0x61];

/**
 * Returns the shortest text that completes a truncated response.
 * @param grammar GBNF that {@link Grammar} has generated.
 * @param response start of a text that the grammar allows.
 * @returns undefined if the grammar does not allow the response, the end would be longer than 16,384 characters, or the search
 *   exceeds its step limit.
 */
export function completeJson(grammar: string, response: string): string | undefined {
  const rules = readGrammar(grammar);
  const rest = new PrefixParser(rules).parse(response);
  return rest && new ShortestTexts(rules).shortestOf(rest);
}

/** Computes the shortest texts of the parts of a grammar. */
class ShortestTexts {
  readonly #rules: ReadonlyMap<string, GrammarPart>;
  /** Length of the shortest text of each rule. */
  readonly #lengths = new Map<string, number>();

  constructor(rules: ReadonlyMap<string, GrammarPart>) {
    this.#rules = rules;
    this.#measureRules();
  }

  /** Returns the shortest text of the alternatives; undefined if it exceeds the maximum length. */
  shortestOf(rests: readonly (Rest | undefined)[]): string | undefined {
    const all = rests.map(partsOf).map((parts) => ({ parts, length: this.#sum(parts) }));
    const shortest = all.reduce((best, each) => (each.length < best.length ? each : best));
    if (shortest.length > MAX_CHARACTERS) return undefined;
    return shortest.parts.map((part) => this.#text(part)).join('');
  }

  #sum(parts: readonly GrammarPart[]): number {
    return parts.reduce((sum, part) => sum + this.#length(part), 0);
  }

  #length(part: GrammarPart): number {
    switch (part.kind) {
      case 'text':
        return part.text.length;
      case 'class':
        return 1;
      case 'rule':
        return this.#lengths.get(part.name) ?? Number.POSITIVE_INFINITY;
      case 'choice':
        return Math.min(...part.of.map((each) => this.#length(each)));
      case 'sequence':
        return this.#sum(part.of);
      case 'repeat':
        return part.min === 0 ? 0 : part.min * this.#length(part.of);
    }
  }

  #text(part: GrammarPart): string {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'class': {
        const code = part.negated
          ? NEGATED_CLASS_CHARACTERS.find((each) => inClass(part, each))
          : part.ranges[0]?.[0];
        return String.fromCodePoint(code ?? 0);
      }
      case 'rule':
        return this.#text(ruleOf(this.#rules, part.name));
      case 'choice': {
        const min = this.#length(part);
        const shortest = part.of.find((each) => this.#length(each) === min);
        return shortest ? this.#text(shortest) : '';
      }
      case 'sequence':
        return part.of.map((each) => this.#text(each)).join('');
      case 'repeat':
        return part.min === 0 ? '' : this.#text(part.of).repeat(part.min);
    }
  }

  /** Rules may be recursive, so the measurement repeats in post-order until no length changes. */
  #measureRules(): void {
    for (let changed = true; changed; ) {
      changed = false;
      const seen = new Set<string>();
      const measure = (name: string) => {
        if (seen.has(name)) return;
        seen.add(name);
        const rule = ruleOf(this.#rules, name);
        for (const each of referencedRules(rule)) measure(each);
        const length = this.#length(rule);
        if (length >= (this.#lengths.get(name) ?? Number.POSITIVE_INFINITY)) return;
        this.#lengths.set(name, length);
        changed = true;
      };
      measure('root');
    }
  }
}

function partsOf(rest: Rest | undefined): GrammarPart[] {
  const parts: GrammarPart[] = [];
  for (let each = rest; each !== undefined; each = each.then) parts.push(each.part);
  return parts;
}

/** Names of the rules that a part references. */
function referencedRules(part: GrammarPart): string[] {
  switch (part.kind) {
    case 'rule':
      return [part.name];
    case 'choice':
    case 'sequence':
      return part.of.flatMap(referencedRules);
    case 'repeat':
      return referencedRules(part.of);
    default:
      return [];
  }
}
