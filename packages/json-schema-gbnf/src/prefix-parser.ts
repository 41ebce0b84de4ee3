/** Parses the start of a text with a grammar, and tracks all parses. */

import type { GrammarPart, RepeatedPart } from './grammar-reader.ts';

/** Maximum number of grammar parts that are visited to parse a text. Ambiguous grammars visit many per character. */
const MAX_STEPS = 2_000_000;

/** The unmatched parts of one parse, as a linked list that starts with the next part. Equal lists are the same object. */
export interface Rest {
  readonly part: GrammarPart;
  readonly then: Rest | undefined;
}

/** Tracks all parses of the start of a text. */
export class PrefixParser {
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

  /** Whether the grammar allows a text. False if the step limit is exceeded. */
  accepts(text: string): boolean {
    const rests = this.parse(text);
    if (rests === undefined) return false;
    const open = new Set(rests);
    this.#step(open, '', new Set());
    return open.has(undefined);
  }

  #after(rests: ReadonlySet<Rest | undefined>, character: string): ReadonlySet<Rest | undefined> {
    const after = new Set<Rest | undefined>();
    this.#step(new Set(rests), character, after);
    return after;
  }

  /**
   * Reads one character.
   * @param open parses before the character. Those that other rules lead to are added.
   * @param character empty to read nothing.
   * @param after receives the parses after the character.
   */
  #step(open: Set<Rest | undefined>, character: string, after: Set<Rest | undefined>): void {
    // The loop also visits the elements that it adds.
    for (const rest of open) {
      this.#steps += 1;
      if (rest === undefined || this.#steps > MAX_STEPS) continue;
      const { part, then } = rest;
      switch (part.kind) {
        case 'text':
          if (part.text === '') open.add(then);
          else if (character !== '' && part.text.startsWith(character)) {
            const text = part.text.slice(character.length);
            after.add(text === '' ? then : this.#rest({ kind: 'text', text }, then));
          }
          break;
        case 'class':
          if (character !== '' && inClass(part, character.codePointAt(0) ?? 0)) after.add(then);
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

/** Whether a class contains a code point. */
export function inClass({ ranges, negated }: Extract<GrammarPart, { kind: 'class' }>, code: number): boolean {
  return ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}

/** @throws Error for an unknown name. */
export function ruleOf(rules: ReadonlyMap<string, GrammarPart>, name: string): GrammarPart {
  const rule = rules.get(name);
  if (rule === undefined) throw new Error(`A grammar has no rule ${name}.`);
  return rule;
}
