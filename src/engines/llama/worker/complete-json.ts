/** The end of an answer that was cut: the shortest that its grammar allows. */

import { type GrammarPart, type RepeatedPart, readGrammar } from '../grammar/grammar-reader.ts';

/** Longest end that is given: an answer that lacks more is left as it was cut. */
const MAX_CHARACTERS = 16_384;
/** Parts that are looked at to follow one answer: of one that may be read in very many ways nothing is said. */
const MAX_STEPS = 2_000_000;
/** What a class that says what it is not is written as. */
const PLAIN = [0x20, 0x30, 0x61];

/** What has yet to come, the nearest first; the same is there once. */
interface Rest {
  readonly part: GrammarPart;
  readonly then: Rest | undefined;
}

/**
 * The shortest text that makes a whole of an answer's beginning.
 * @param grammar GBNF that `src/engines/llama/grammar/grammar.ts` wrote.
 * @returns undefined when the grammar does not allow the beginning, or its end would be too long or too hard to find.
 */
export function completeJson(grammar: string, said: string): string | undefined {
  const rules = readGrammar(grammar);
  const rest = new Follower(rules).follow(said);
  return rest && new ShortestTexts(rules).ofAny(rest);
}

/** Follows all parses of a text that a grammar allows. */
class Follower {
  readonly #rules: ReadonlyMap<string, GrammarPart>;
  readonly #repeats = new Map<RepeatedPart, RepeatedPart>();
  /** What comes at last, by what comes before it. */
  readonly #last = new Map<GrammarPart, Rest>();
  readonly #before = new Map<Rest, Map<GrammarPart, Rest>>();
  #steps = 0;

  constructor(rules: ReadonlyMap<string, GrammarPart>) {
    this.#rules = rules;
  }

  /** Everything that may follow; undefined in it means that nothing has to. */
  follow(text: string): readonly (Rest | undefined)[] | undefined {
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
    // What is added on the way is looked at, too.
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
          if (isOf(part, character.codePointAt(0) ?? 0)) after.add(then);
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
          if (part.max > 0) open.add(this.#rest(part.of, this.#rest(this.#once(part), then)));
          break;
      }
    }
    return after;
  }

  /** What is left of a repetition after one of its times. */
  #once(part: RepeatedPart): RepeatedPart {
    if (part.min === 0 && part.max === Number.POSITIVE_INFINITY) return part;
    const known = this.#repeats.get(part);
    if (known) return known;
    const once = { ...part, min: Math.max(0, part.min - 1), max: part.max - 1 };
    this.#repeats.set(part, once);
    return once;
  }

  #rest(part: GrammarPart, then: Rest | undefined): Rest {
    const before = then === undefined ? this.#last : (this.#before.get(then) ?? new Map<GrammarPart, Rest>());
    if (then !== undefined) this.#before.set(then, before);
    const known = before.get(part);
    if (known) return known;
    const rest = { part, then };
    before.set(part, rest);
    return rest;
  }
}

/** The shortest texts of parts of a grammar. */
class ShortestTexts {
  readonly #rules: ReadonlyMap<string, GrammarPart>;
  /** Characters of the shortest text of each rule. */
  readonly #lengths = new Map<string, number>();

  constructor(rules: ReadonlyMap<string, GrammarPart>) {
    this.#rules = rules;
    this.#measureRules();
  }

  /** The shortest of some; undefined when it is too long. */
  ofAny(rests: readonly (Rest | undefined)[]): string | undefined {
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
        const code = part.negated ? PLAIN.find((each) => isOf(part, each)) : part.ranges[0]?.[0];
        return String.fromCodePoint(code ?? 0);
      }
      case 'rule':
        return this.#text(ruleOf(this.#rules, part.name));
      case 'choice': {
        const least = this.#length(part);
        const shortest = part.of.find((each) => this.#length(each) === least);
        return shortest ? this.#text(shortest) : '';
      }
      case 'sequence':
        return part.of.map((each) => this.#text(each)).join('');
      case 'repeat':
        return part.min === 0 ? '' : this.#text(part.of).repeat(part.min);
    }
  }

  /** Rules may name each other in a round: again and again, each after those that it names, until all is known. */
  #measureRules(): void {
    for (let changed = true; changed; ) {
      changed = false;
      const seen = new Set<string>();
      const measure = (name: string) => {
        if (seen.has(name)) return;
        seen.add(name);
        const rule = ruleOf(this.#rules, name);
        for (const each of namesIn(rule)) measure(each);
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

/** Rules that a part names. */
function namesIn(part: GrammarPart): string[] {
  switch (part.kind) {
    case 'rule':
      return [part.name];
    case 'choice':
    case 'sequence':
      return part.of.flatMap(namesIn);
    case 'repeat':
      return namesIn(part.of);
    default:
      return [];
  }
}

function isOf({ ranges, negated }: Extract<GrammarPart, { kind: 'class' }>, code: number): boolean {
  return ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}

function ruleOf(rules: ReadonlyMap<string, GrammarPart>, name: string): GrammarPart {
  const rule = rules.get(name);
  if (rule === undefined) throw new Error(`A grammar has no rule ${name}.`);
  return rule;
}
