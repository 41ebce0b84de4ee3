/** Grammar of sets of objects. Members are in the order of the schema, followed by members with other names. */

import { type Automaton, accepts, LiteralsAutomaton } from './automaton.ts';
import { otherTexts, type TextCondition } from './automaton-grammar.ts';
import { type Grammar, jsonLiteral, times } from './grammar.ts';
import type { SchemaSets } from './schema-sets.ts';
import { UnsupportedSchemaError } from './schema-values.ts';
import { patternRule, textRule } from './string-grammar.ts';
import { isListed, type ObjectSet, type SomeMember, type Term } from './value-sets.ts';

/** Maximum number of states of the members of an object: of the remaining names, counts and sets. */
const MAX_STATES = 4000;
/** Maximum number of patterns for names, because each combination of them is a kind of member. */
const MAX_PATTERNS = 6;
/** Maximum number of characters of names that further names must differ from, in one grammar. */
const MAX_OTHER_NAMES = 1000;
/** Maximum number of members of an object without a limit. */
const endless = Number.POSITIVE_INFINITY;

/** The rule of a term; undefined if the term allows no value. */
export type RuleOfTerm = (term: Term) => string | undefined;

/** An object set with the rules of its members. */
interface ReadObject {
  readonly set: ObjectSet;
  /** Rules of the values of the named members. */
  readonly values: ReadonlyMap<string, string>;
  readonly min: number;
  readonly max: number;
  /** Rule of a further member; undefined if there can be none. */
  readonly more: string | undefined;
  /** Rule of a member that must follow the named ones; undefined if none is needed. */
  readonly needed: string | undefined;
}

/** Converts the object sets of one grammar. */
export class ObjectGrammar {
  readonly #grammar: Grammar;
  readonly #sets: SchemaSets;
  readonly #ruleOf: RuleOfTerm;
  /** Rules of names by their conditions. */
  readonly #names = new Map<string, string[]>();
  #otherNames = 0;

  constructor(grammar: Grammar, sets: SchemaSets, ruleOf: RuleOfTerm) {
    this.#grammar = grammar;
    this.#sets = sets;
    this.#ruleOf = ruleOf;
  }

  /**
   * The rule of a union of object sets; undefined if it is empty.
   * @throws UnsupportedSchemaError with the unsupported keyword.
   */
  rule(sets: readonly ObjectSet[]): string | undefined {
    const objects = sets.map((set) => this.#read(set)).filter((each) => each !== undefined);
    if (objects.length === 0) return undefined;
    const [only] = objects;
    const counts = objects.some(
      ({ set, min, max, needed }) => min > set.required.size || max !== endless || needed,
    );
    const members =
      only !== undefined && objects.length === 1 && !counts
        ? this.#plainMembers(only)
        : new MemberRules(this.#grammar, objects).start();
    return members === undefined ? undefined : this.#grammar.add('object', `"{" ${members} "}"`);
  }

  /** Members of an object without limits of their number. */
  #plainMembers({ set, values, more }: ReadObject): string {
    // Built backwards: `rest` follows a written member, `first` applies if none is written yet.
    let rest = more === undefined ? '""' : `(comma ${more})*`;
    let first = more === undefined ? '""' : `(${more} ${rest})?`;
    for (const [name, value] of [...values].reverse()) {
      const member = `${jsonLiteral(name)} colon ${value}`;
      rest = rest === '""' ? '' : rest;
      if (set.required.has(name)) {
        first = this.#grammar.add('first', `${member} ${rest}`);
        rest = this.#grammar.add('rest', `comma ${member} ${rest}`);
      } else {
        first = this.#grammar.add('first', `${member} ${rest} | ${first}`);
        rest = this.#grammar.add('rest', `(comma ${member})? ${rest}`);
      }
    }
    return first;
  }

  #read(set: ObjectSet): ReadObject | undefined {
    if (set.unsupported !== undefined) throw new UnsupportedSchemaError(set.unsupported);
    const own = new Set([...set.layers.flatMap(({ named }) => [...named.keys()]), ...set.required]);
    const values = new Map<string, string>();
    for (const name of own) {
      this.#grammar.countSteps(1 + set.names.length);
      const possible = set.names.every((term) => this.#sets.allows(term, name));
      const rule = possible ? this.#ruleOf(this.#sets.memberTerm(set, name)) : undefined;
      if (rule !== undefined) values.set(name, rule);
      else if (set.required.has(name)) return undefined;
    }
    if (set.some.length > 1) throw new UnsupportedSchemaError('several members that must exist');
    const [some] = set.some;
    const needed = some === undefined ? undefined : this.#needed(set, some, own);
    if (some !== undefined && needed === undefined) return undefined;
    // Further members must not replace the one that must exist.
    const more = some === undefined ? this.#more(set, own) : undefined;
    const most = Math.min(
      set.max,
      more === undefined ? values.size + (needed === undefined ? 0 : 1) : endless,
    );
    const max =
      more === undefined && values.size + (needed === undefined ? 0 : 1) <= set.max ? endless : most;
    return { set, values, min: set.min, max, more, needed };
  }

  /** The member that must exist. */
  #needed(set: ObjectSet, some: SomeMember, own: ReadonlySet<string>): string | undefined {
    const excluded = new Set([...own, ...some.except]);
    const members = this.#members(set, excluded, some);
    return members.length === 0 ? undefined : this.#grammar.add('member', members.join(' | '));
  }

  /** A member whose name is not listed. */
  #more(set: ObjectSet, own: ReadonlySet<string>): string | undefined {
    if (set.layers.length === 0 && set.names.length === 0 && own.size === 0) return 'member';
    const members = this.#members(set, own, undefined);
    return members.length === 0 ? undefined : this.#grammar.add('member', members.join(' | '));
  }

  /** Alternatives of a member that is not listed, by the patterns that match its name. */
  #members(set: ObjectSet, excluded: ReadonlySet<string>, some: SomeMember | undefined): string[] {
    const ofLayers = set.layers.flatMap(({ patterns }) => patterns.map(([pattern]) => pattern));
    const patterns = [...new Set([...ofLayers, ...(some?.matching ?? []), ...(some?.avoiding ?? [])])];
    if (patterns.length > MAX_PATTERNS) {
      throw new UnsupportedSchemaError(`more than ${MAX_PATTERNS} patterns in 'patternProperties'`);
    }
    const members: string[] = [];
    for (let mask = 2 ** patterns.length - 1; mask >= 0; mask -= 1) {
      const matching = patterns.filter((_, i) => mask & (1 << i));
      if (some?.matching.some((each) => !matching.includes(each))) continue;
      if (some?.avoiding.some((each) => matching.includes(each))) continue;
      const term = this.#termOf(set, matching, some);
      if (term === undefined) continue;
      const value = this.#ruleOf(term);
      if (value === undefined) continue;
      const names = this.#namesOf(set, excluded, patterns, matching, some);
      members.push(...names.map((name) => `${name} colon ${value}`));
    }
    return members;
  }

  /** The term of members whose names these patterns match; undefined if there should be none. */
  #termOf(set: ObjectSet, matching: readonly string[], some: SomeMember | undefined): Term | undefined {
    // Without a keyword for further members, a schema with properties is complete.
    const given = set.layers.some(
      ({ restGiven, patterns }) => restGiven || patterns.some(([each]) => matching.includes(each)),
    );
    if (!given && some === undefined && set.names.length === 0 && set.layers.length > 0) return undefined;
    const terms = set.layers.flatMap(({ patterns, rest }) => {
      const matched = patterns.filter(([pattern]) => matching.includes(pattern));
      return matched.length > 0 ? matched.map(([, value]) => value) : [rest];
    });
    return this.#sets.conjunction(some === undefined ? terms : [...terms, some.value]);
  }

  /** Rules of the names that match some of the patterns only. */
  #namesOf(
    set: ObjectSet,
    excluded: ReadonlySet<string>,
    patterns: readonly string[],
    matching: readonly string[],
    some: SomeMember | undefined,
  ): string[] {
    const terms = [...set.names, ...(some?.name === undefined ? [] : [some.name])];
    const [only] = patterns;
    const automata = patterns.map((pattern) => this.#sets.automaton(pattern));
    const clashing = [...excluded].filter((name) =>
      automata.every((automaton, i) => accepts(automaton, name) === matching.includes(patterns[i] ?? '')),
    );
    if (terms.length === 0 && clashing.length === 0) {
      if (only === undefined) return ['string'];
      const rule =
        patterns.length === 1 && matching.length === 1 ? patternRule(this.#grammar, only) : undefined;
      if (rule !== undefined) return [rule];
    }
    const key = JSON.stringify([patterns, matching, clashing, terms.map((term) => term.key)]);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const names = this.#otherNamesThan(
      clashing,
      patterns,
      automata,
      (i) => matching.includes(patterns[i] ?? ''),
      terms,
    );
    this.#names.set(key, names);
    return names;
  }

  /** Rules of the names that differ from some, and that satisfy all conditions. */
  #otherNamesThan(
    clashing: readonly string[],
    patterns: readonly string[],
    automata: readonly Automaton[],
    isWanted: (index: number) => boolean,
    terms: readonly Term[],
  ): string[] {
    this.#otherNames += clashing.reduce((sum, name) => sum + name.length, 0);
    // Other names are left out of a grammar that becomes too large.
    if (this.#otherNames > MAX_OTHER_NAMES) return [];
    if (terms.length === 0 && automata.length === 0) {
      return [this.#grammar.add('name', `"\\"" ${otherTexts(this.#grammar, clashing)} "\\""`)];
    }
    const [only] = patterns;
    const ofPattern = only !== undefined && patterns.length === 1 && isWanted(0) && terms.length === 0;
    const conditions: TextCondition[] = automata.map((automaton, i) => ({ automaton, wanted: isWanted(i) }));
    if (ofPattern) conditions.pop();
    if (clashing.length > 0) conditions.push({ automaton: new LiteralsAutomaton(clashing), wanted: false });
    return this.#sets.shape(this.#sets.conjunction(terms)).sets.flatMap((each) => {
      if (isListed(each) && each.kind === 'string') {
        const fits = (name: unknown) =>
          conditions.every(({ automaton, wanted }) => accepts(automaton, String(name)) === wanted);
        return each.values.filter(fits).map((name) => jsonLiteral(name));
      }
      if (each.kind !== 'string' || isListed(each)) return [];
      const set = ofPattern ? { ...each, patterns: [only] } : each;
      const { conditions: ofSet, limits } = this.#sets.conditionsOf(set);
      const rule = textRule(this.#grammar, [...ofSet, ...conditions], limits);
      return rule === undefined ? [] : [rule];
    });
  }
}

/** Rules of the members of a union of objects. Objects that have the same members so far share their rules. */
class MemberRules {
  readonly #grammar: Grammar;
  readonly #names: readonly string[];
  readonly #objects: readonly ReadObject[];
  /** Count from which more members make no difference. */
  readonly #most: number;
  readonly #rules = new Map<string, string | undefined>();

  constructor(grammar: Grammar, objects: readonly ReadObject[]) {
    this.#grammar = grammar;
    this.#names = [...new Set(objects.flatMap(({ values }) => [...values.keys()]))];
    this.#objects = objects;
    const counted = objects.map(({ min, max }) => (max === endless ? min : max));
    this.#most = Math.max(1, Math.min(this.#names.length + 1, Math.max(...counted)));
  }

  start(): string | undefined {
    return this.#rule(0, 0, this.#objects.keys().toArray());
  }

  /** @param open indexes of the objects that have the members so far. */
  #rule(at: number, count: number, open: readonly number[]): string | undefined {
    if (open.length === 0) return undefined;
    if (at === this.#names.length) return this.#end(count, open);
    const key = `${at}:${count}:${open.join()}`;
    if (this.#rules.has(key)) return this.#rules.get(key);
    if (this.#rules.size >= MAX_STATES)
      throw new UnsupportedSchemaError('too many combinations of properties');
    this.#grammar.countSteps(1 + open.length / 4);
    const name = this.#names[at] ?? '';
    const without = this.#rule(
      at + 1,
      count,
      open.filter((i) => !this.#objects[i]?.set.required.has(name)),
    );
    const byValue = new Map<string, number[]>();
    for (const i of open) {
      const { values, max } = this.#objects[i] as ReadObject;
      const value = values.get(name);
      if (value === undefined || count + 1 > max) continue;
      byValue.set(value, [...(byValue.get(value) ?? []), i]);
    }
    const parts: string[] = [];
    for (const [value, those] of byValue) {
      const after = this.#rule(at + 1, Math.min(count + 1, this.#most), those);
      if (after === undefined) continue;
      const member = `${count > 0 ? 'comma ' : ''}${jsonLiteral(name)} colon ${value}`;
      if (after === without && byValue.size === 1) {
        const rule = this.#grammar.add('rest', `(${member})? ${after}`);
        this.#rules.set(key, rule);
        return rule;
      }
      parts.push(`${member} ${after}`);
    }
    if (without !== undefined) parts.push(without);
    const rule =
      parts.length === 0
        ? undefined
        : parts.length === 1 && without !== undefined
          ? without
          : this.#grammar.add('rest', parts.join(' | '));
    this.#rules.set(key, rule);
    return rule;
  }

  /** Members after the listed ones. */
  #end(count: number, open: readonly number[]): string | undefined {
    const ends = new Set(open.map((i) => this.#endOf(this.#objects[i] as ReadObject, count)));
    ends.delete(undefined);
    return ends.size === 0 ? undefined : this.#grammar.add('rest', [...ends].join(' | '));
  }

  #endOf({ min, max, more, needed }: ReadObject, count: number): string | undefined {
    const comma = count > 0 ? 'comma ' : '';
    if (needed !== undefined) return count + 1 < min || count + 1 > max ? undefined : `${comma}${needed}`;
    const missing = Math.max(0, min - count);
    if (more === undefined || max <= count) return missing > 0 ? undefined : '""';
    // Names may repeat, so that two further members may be one.
    if (missing > 1) return undefined;
    const room = max === endless ? endless : max - count;
    if (count > 0) return `(comma ${more})${times(missing, room)}`;
    const list = room === 1 ? more : `${more} (comma ${more})${times(0, room - 1)}`;
    // A named rule, because llama.cpp multiplies the counts of nested repetitions.
    return missing > 0 ? list : `${this.#grammar.add('list', list)}?`;
  }
}
