/**
 * Converts JSON Schema to a grammar whose output is valid against the schema. One space may follow a colon and a comma. The
 * grammar may allow less than the schema, never more.
 */

import { type Grammar, jsonLiteral, MAX_LISTED, times } from './grammar.ts';
import { numberRule } from './number-grammar.ts';
import { ObjectGrammar } from './object-grammar.ts';
import { at, issue, SchemaSets } from './schema-sets.ts';
import { UnsupportedSchemaError } from './schema-values.ts';
import { stringRule } from './string-grammar.ts';
import {
  ANYTHING,
  type ArraySet,
  isListed,
  isWhole,
  type ListedSet,
  type ObjectSet,
  type Schema,
  type SchemaPath,
  type Term,
  type ValueSet,
} from './value-sets.ts';

/** Maximum length of a schema as JSON without its annotations. */
const MAX_SCHEMA_CHARACTERS = 120_000;
/** Maximum nesting of values. References to an enclosing schema do not count. */
const MAX_DEPTH = 64;
/** Annotations that are not counted. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'markdownDescription']);

/**
 * Adds the rule of a schema and returns its name.
 * @param root schema to which `#` in references resolves.
 * @throws UnsupportedSchemaError with the unsupported keyword and its place in the schema.
 */
export function schemaRule(grammar: Grammar, schema: Schema, root: Schema = schema): string {
  checkLength(root);
  const rule = new SchemaGrammar(grammar, root).rule(schema);
  grammar.checkLeftRecursion();
  return rule;
}

function checkLength(root: Schema): void {
  if (lengthOf(root) > MAX_SCHEMA_CHARACTERS) {
    throw new UnsupportedSchemaError(`it exceeds ${MAX_SCHEMA_CHARACTERS} characters`);
  }
}

/** The approximate length of a schema as JSON, without the texts for readers. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 5;
  let length = 2;
  if (Array.isArray(value)) for (const each of value) length += lengthOf(each);
  else {
    for (const [key, each] of Object.entries(value)) {
      if (typeof each !== 'string' || !TEXTS.has(key)) length += key.length + 3 + lengthOf(each);
    }
  }
  return length;
}

/** Converts one schema and its references. */
class SchemaGrammar {
  readonly #grammar: Grammar;
  readonly #sets: SchemaSets;
  readonly #objects: ObjectGrammar;
  /** Rules of terms; undefined for terms without values. */
  readonly #rules = new Map<string, string | undefined>();
  /** Terms whose rule is being built, with the name of the rule once it is used. */
  readonly #open = new Map<string, string | undefined>();
  #depth = 0;

  constructor(grammar: Grammar, root: Schema) {
    this.#grammar = grammar;
    this.#sets = new SchemaSets(root, (count) => grammar.countSteps(count));
    this.#objects = new ObjectGrammar(grammar, this.#sets, (term) => this.#ruleOf(term));
  }

  /** The rule of a schema. @throws UnsupportedSchemaError if no value is valid. */
  rule(schema: Schema): string {
    const term = this.#sets.term(schema, []);
    const rule = this.#ruleOf(term);
    if (rule === undefined) throw issue(placeOf(term), 'no value is valid');
    return rule;
  }

  #ruleOf(term: Term): string | undefined {
    if (term.all.length === 0) return 'value';
    if (this.#rules.has(term.key)) return this.#rules.get(term.key);
    if (this.#open.has(term.key)) {
      const rule = this.#open.get(term.key) ?? this.#grammar.reserve('ref');
      this.#open.set(term.key, rule);
      return rule;
    }
    const path = placeOf(term);
    if (this.#depth > MAX_DEPTH) throw issue(path, `nesting deeper than ${MAX_DEPTH} levels`);
    this.#open.set(term.key, undefined);
    this.#depth += 1;
    let rule = at(path, () => this.#union(term));
    this.#depth -= 1;
    const reserved = this.#open.get(term.key);
    this.#open.delete(term.key);
    if (reserved !== undefined) {
      if (rule === undefined) throw issue(path, 'no value is valid');
      this.#grammar.define(reserved, rule, [rule]);
      rule = reserved;
    }
    this.#rules.set(term.key, rule);
    return rule;
  }

  /** The rule of all values of a term. */
  #union(term: Term): string | undefined {
    const { sets } = this.#sets.shape(term);
    if (sets === ANYTHING) return 'value';
    // A schema that constrains only some types means these types.
    const constrained = sets.filter((set) => !ANYTHING.includes(set));
    const used = constrained.length > 0 ? constrained : sets;
    const objects = used.filter(
      (set) => set.kind === 'object' && !isListed(set) && !isWhole(set),
    ) as ObjectSet[];
    const rules: string[] = [];
    for (const set of used) {
      const rule =
        set === objects[0]
          ? this.#objects.rule(objects)
          : objects.includes(set as ObjectSet)
            ? undefined
            : this.#setRule(set);
      if (rule !== undefined && !rules.includes(rule)) rules.push(rule);
    }
    if (rules.length <= 1) return rules[0];
    return this.#grammar.add('choice', rules.join(' | '), rules);
  }

  #setRule(set: ValueSet): string | undefined {
    if (isWhole(set)) return set.kind;
    if (isListed(set)) return this.#listed(set);
    switch (set.kind) {
      case 'number':
        return numberRule(this.#grammar, set);
      case 'string':
        return stringRule(this.#grammar, this.#sets, set);
      case 'array':
        return this.#array(set);
      default:
        return this.#objects.rule([set as ObjectSet]);
    }
  }

  #listed({ values }: ListedSet): string {
    return this.#grammar.add('enum', values.map((value) => jsonLiteral(value)).join(' | '));
  }

  #array(set: ArraySet): string | undefined {
    if (set.unsupported !== undefined) throw new UnsupportedSchemaError(set.unsupported);
    const { layers, max, some } = set;
    const length = Math.max(0, ...layers.map(({ first }) => first.length));
    if (set.unique && max > 1) return this.#uniqueItems(set, length);
    if (some.length > 1) throw new UnsupportedSchemaError("several values of 'contains'");
    const rest = this.#ruleOf(this.#sets.conjunction(layers.map((layer) => layer.rest)));
    const first: string[] = [];
    let most = max;
    for (let i = 0; i < Math.min(length, max); i += 1) {
      this.#grammar.countSteps(layers.length);
      const item = this.#ruleOf(this.#sets.conjunction(layers.map((layer) => layer.first[i] ?? layer.rest)));
      if (item === undefined) {
        most = i;
        break;
      }
      first.push(item);
    }
    if (rest === undefined) most = Math.min(most, first.length);
    if (set.min > most) return undefined;
    if (set.min > MAX_LISTED) throw new UnsupportedSchemaError(`'minItems' above ${MAX_LISTED}`);
    const [needed] = some;
    if (needed !== undefined) return this.#arrayWith(set, first, rest, needed, most);
    // Without a keyword for further items, a list of first items is complete.
    const given = layers.some((layer) => layer.restGiven) || set.min > first.length || first.length === 0;
    const least = given ? set.min : Math.max(set.min, Math.min(first.length, most));
    const room = given ? most - first.length : 0;
    return this.#grammar.add('array', `"[" ${this.#items(first, rest, least, room)} "]"`);
  }

  /** Items at their place, then further ones. @param room maximum number of further items. */
  #items(first: readonly string[], rest: string | undefined, least: number, room: number): string {
    const limit = room === Number.POSITIVE_INFINITY ? room : Math.min(room, MAX_LISTED);
    const missing = Math.max(0, least - first.length);
    let text = rest === undefined || limit <= 0 ? '' : `(comma ${rest})${times(missing, limit)}`;
    if (first.length === 0) {
      if (rest === undefined || limit <= 0) return '';
      const tail = limit === 1 ? '' : ` (comma ${rest})${times(Math.max(0, least - 1), limit - 1)}`;
      // A named rule, because llama.cpp multiplies the counts of nested repetitions.
      return least > 0 ? `${rest}${tail}` : `${this.#grammar.add('list', `${rest}${tail}`)}?`;
    }
    for (const [i, item] of [...first.entries()].reverse()) {
      text = `${i === 0 ? '' : 'comma '}${item} ${text}`;
      if (i >= least) text = `${this.#grammar.add('list', text)}?`;
    }
    return text;
  }

  /** An array with at least one item of a term. */
  #arrayWith(
    set: ArraySet,
    first: readonly string[],
    rest: string | undefined,
    { from, item }: ArraySet['some'][number],
    most: number,
  ): string | undefined {
    const needed = this.#ruleOf(this.#sets.conjunction([...set.layers.map((layer) => layer.rest), item]));
    if (from < first.length || most !== Number.POSITIVE_INFINITY || set.min > from + 1) {
      throw new UnsupportedSchemaError("'contains' combined with other keywords of arrays");
    }
    if (needed === undefined || rest === undefined) return undefined;
    const before = [...first, ...Array.from({ length: from - first.length }, () => rest)];
    const lead = before.map((each) => `${each} comma `).join('');
    return this.#grammar.add('array', `"[" ${lead}(${rest} comma)* ${needed} (comma ${rest})* "]"`);
  }

  /** Different items: listed values in their order, each at most once. */
  #uniqueItems(set: ArraySet, length: number): string | undefined {
    const { sets } = this.#sets.shape(this.#sets.conjunction(set.layers.map((layer) => layer.rest)));
    const values = sets.flatMap((each) => (isListed(each) ? each.values : []));
    const listed = sets.every(isListed) && set.layers.length > 0 && length === 0 && set.some.length === 0;
    if (!listed || set.min > 1 || set.max < values.length) throw new UnsupportedSchemaError("'uniqueItems'");
    const texts = [...new Set(values.map((value) => jsonLiteral(value)))];
    let rest = '""';
    let first = set.min > 0 ? undefined : '""';
    for (const text of texts.toReversed()) {
      const one = `${text} ${rest}`;
      first = this.#grammar.add('first', first === undefined ? one : `${one} | ${first}`);
      rest = this.#grammar.add('rest', `(comma ${text})? ${rest}`);
    }
    return first === undefined ? undefined : this.#grammar.add('array', `"[" ${first} "]"`);
  }
}

function placeOf(term: Term): SchemaPath {
  return term.all[0]?.path ?? [];
}
