/** Completes a truncated response with the shortest end that its grammar allows. */

import { type GrammarPart, type RepeatedPart, readGrammar } from '../grammar/grammar-reader.ts';

/** Maximum length of the end. A response that needs a longer end remains truncated. */
const MAX_CHARACTERS = 16_384;
/** Maximum number of grammar parts that are visited to parse a response. Ambiguous grammars visit many per character. */
const MAX_STEPS = 2_000_000;
/** Candidates for the character that is written for a negated class: space, `0` and `a`. */
const NEGATED_CLASS_CHARACTERS = [0x20, 0x30, 0x61];

/** The unmatched parts of one parse, as a linked list that starts with the next part. Equal lists are the same object. */
interface Rest {
  readonly part: GrammarPart;
  readonly then: Rest | undefined;
}

/**
 * Returns the shortest text that completes a truncated response.
 * @param grammar GBNF that `src/engines/llama/grammar/grammar.ts` has generated.
 * @param response start of a text that the grammar allows.
 * @returns undefined if the grammar does not allow the response, the end would be longer than 16,384 characters, or the search
 *   exceeds its step limit.
 */
export function completeJson(grammar: string, response: string): string | undefined {
  const rules = readGrammar(grammar);
  const rest = new PrefixParser(rules).parse(response);
  return rest && new ShortestTexts(rules).shortestOf(rest);
}

/** Tracks all parses of the start of a text. */
class PrefixParser {
  readonly #rules: ReadonlyMap<string, GrammarPart>;
  readonly #repeats = new Map<RepeatedPart, RepeatedPart>();
  /** Lists of one part, by their part; longer lists, by their tail and first part. */
  readonly #single = new Map<GrammarPart, Rest>();
  readonly #byTail = new Map<Rest, Map<GrammarPart, Rest>>();
  #steps = 0;

  constructor(rules: ReadonlyMap<string, GrammarPart>) {
    this.#rules = rules;
  }

  /**
   * Returns the unmatched parts of each parse; an undefined element means that the text is complete.
   * @returns undefined if the grammar does not allow the text, or the step limit is exceeded.
   */
  parse(text: string): readonly (Rest | undefined)[] | undefined {
    let rests: ReadonlySet<Rest | undefined> = new Set([
      this.#rest({ kind: 'rule', name: 'root' }, undefined),
    ]);
    for (const character of text) {
      rests = this.#after(rests, character);
      if (rests.size === 0 || this.#steps > MAX_STEPS) return undefined;
    }
    return [...rests];
  }

  #after(rests: ReadonlySet<Rest | undefined>, character: string): ReadonlySet<Rest | undefined> {
    const after = new Set<Rest | undefined>();
    // The loop also visits the elements that it adds.
    const open = new Set(rests);
    for (const rest of open) {
      this.#steps += 1;
      if (rest === undefined || this.#steps > MAX_STEPS) continue;
      const { part, then } = rest;
      switch (part.kind) {
        case 'text':
          if (part.text === '') open.add(then);
          else if (part.text.startsWith(character)) {
            const text = part.text.slice(character.length);
            after.add(text === '' ? then : this.#rest({ kind: 'text', text }, then));
          }
          break;
        case 'class':
          if (inClass(part, character.codePointAt(0) ?? 0)) after.add(then);
          break;
        case 'rule':
          open.add(this.#rest(ruleOf(this.#rules, part.name), then));
          break;
        case 'choice':
          for (const each of part.of) open.add(this.#rest(each, then));
          break;
        case 'sequence':
          open.add(part.of.reduceRight((rest: Rest | undefined, each) => this.#rest(each, rest), then));
          break;
        case 'repeat':
          if (part.min === 0) open.add(then);
          if (part.max > 0) open.add(this.#rest(part.of, this.#rest(this.#afterOneMatch(part), then)));
          break;
      }
    }
    return after;
  }

  /** The remaining repetition after one match. */
  #afterOneMatch(part: RepeatedPart): RepeatedPart {
    if (part.min === 0 && part.max === Number.POSITIVE_INFINITY) return part;
    const known = this.#repeats.get(part);
    if (known) return known;
    const remaining = { ...part, min: Math.max(0, part.min - 1), max: part.max - 1 };
    this.#repeats.set(part, remaining);
    return remaining;
  }

  #rest(part: GrammarPart, then: Rest | undefined): Rest {
    const byPart =
      then === undefined ? this.#single : (this.#byTail.get(then) ?? new Map<GrammarPart, Rest>());
    if (then !== undefined) this.#byTail.set(then, byPart);
    const known = byPart.get(part);
    if (known) return known;
    const rest = { part, then };
    byPart.set(part, rest);
    return rest;
  }
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

function inClass({ ranges, negated }: Extract<GrammarPart, { kind: 'class' }>, code: number): boolean {
  return ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}

function ruleOf(rules: ReadonlyMap<string, GrammarPart>, name: string): GrammarPart {
  const rule = rules.get(name);
  if (rule === undefined) throw new Error(`A grammar has no rule ${name}.`);
  return rule;
}
