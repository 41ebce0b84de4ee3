/** Converts JSON Schemas to unions of value sets. Conditions, choices and negations become intersections and complements. */

import { type Automaton, accepts, LiteralsAutomaton, PatternAutomaton } from './automaton.ts';
import type { TextCondition } from './automaton-grammar.ts';
import { type LengthLimits, readPattern, repeatedCharacters } from './pattern-syntax.ts';
import type { JsonSchema } from './schema-values.ts';
import {
  type CountSteps,
  countOf,
  list,
  record,
  supported,
  UnsupportedSchemaError,
  valueText,
} from './schema-values.ts';
import { FORMATS, formatPattern } from './string-formats.ts';
import {
  ANY_NUMBER,
  ANY_STRING,
  ANYTHING,
  type ArraySet,
  complementWithin,
  hasExactComplement,
  intersection,
  isListed,
  isWhole,
  type Kind,
  type ListedSet,
  type Located,
  type MemberLayer,
  NAMED_TYPES,
  type NumberSet,
  type ObjectSet,
  objectWith,
  objectWithout,
  type Schema,
  type SchemaPath,
  type SetContext,
  type Shape,
  type StringSet,
  type Term,
  type ValueSet,
  wholeOf,
} from './value-sets.ts';

/** Keywords by the type of the values to which they apply. */
const KEYWORDS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
    ...['required', 'minProperties', 'maxProperties'],
  ],
  array: [
    ...[
      'items',
      'prefixItems',
      'additionalItems',
      'unevaluatedItems',
      'contains',
      'minContains',
      'maxContains',
    ],
    ...['minItems', 'maxItems', 'uniqueItems'],
  ],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};
/** Types by keyword. */
const TYPE_OF_KEYWORD: ReadonlyMap<string, string> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, keywords]) => keywords.map((keyword) => [keyword, kind] as const)),
);
const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
/** Keywords that never constrain values. */
const TEXTS: ReadonlySet<string> = new Set(['$schema', '$id', 'id', 'title', 'description', '$comment']);
const DEPENDENCIES = ['dependencies', 'dependentRequired', 'dependentSchemas'];
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Maximum number of enum values, choices and properties of a schema: each may be checked for each token. */
const MAX_CHOICES = 1000;
/** Maximum number of schemas in `allOf`. */
const MAX_PARTS = 256;
/** Maximum number of sets of a schema: conditions and choices multiply. */
const MAX_SETS = 512;
/** Maximum length of a path in an error message. */
const MAX_PATH_LENGTH = 200;
/** Depth of members that are compared to find out whether schemas are mutually exclusive. */
const MAX_COMPARED_DEPTH = 8;

const EVERYTHING: Shape = { sets: ANYTHING, exact: true };
const ANY: Term = { key: '', all: [] };

/** The schemas of one root, and the sets of their values. */
export class SchemaSets implements SetContext {
  readonly nothing: Term;
  readonly countSteps: CountSteps;
  readonly #root: Schema;
  readonly #located = new Map<object, Located>();
  readonly #terms = new Map<string, Term>([['', ANY]]);
  readonly #shapes = new Map<number, Shape | 'open'>();
  readonly #shapesOfTerms = new Map<string, Shape>();
  readonly #complements = new Map<string, Term>();
  readonly #automata = new Map<string, Automaton>();
  readonly #texts = new Map<unknown, string>();
  #ids = 0;
  #choices = 0;

  /** @param root schema to which `#` in references resolves. */
  constructor(root: Schema, countSteps: CountSteps) {
    this.#root = root;
    this.countSteps = countSteps;
    this.nothing = this.#term([{ id: this.#nextId(), schema: false, path: [] }]);
  }

  /** The term of a schema at a path. @throws UnsupportedSchemaError if it is not a schema. */
  term(schema: unknown, path: SchemaPath): Term {
    this.countSteps(1);
    if (schema === true) return ANY;
    if (schema === false) return this.nothing;
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw issue(path, 'not a schema');
    return this.#term([this.#locate(schema as JsonSchema, path)]);
  }

  /** The values that are valid against all terms. */
  conjunction(terms: readonly Term[]): Term {
    const some = terms.filter((term) => term.all.length > 0);
    if (some.length <= 1) return some[0] ?? ANY;
    if (some.includes(this.nothing)) return this.nothing;
    this.countSteps(some.length);
    const all = new Map(some.flatMap((term) => term.all).map((each) => [each.id, each]));
    return this.#term([...all.values()]);
  }

  complementOf(term: Term): Term {
    if (term.all.length === 0) return this.nothing;
    if (term === this.nothing) return ANY;
    const [only] = term.all;
    if (term.all.length === 1 && only?.complementOf !== undefined) return only.complementOf;
    const negated = only !== undefined && term.all.length === 1 ? negatedSchema(only.schema) : undefined;
    if (negated !== undefined) return this.term(negated, [...(only?.path ?? []), 'not']);
    const known = this.#complements.get(term.key);
    if (known !== undefined) return known;
    const located = { id: this.#nextId(), schema: true, path: only?.path ?? [], complementOf: term };
    const complement = this.#term([located]);
    this.#complements.set(term.key, complement);
    return complement;
  }

  /** The values of a term. */
  shape(term: Term): Shape {
    const known = this.#shapesOfTerms.get(term.key);
    if (known !== undefined) return known;
    let shape = EVERYTHING;
    for (const each of term.all) shape = this.#both(shape, this.#shapeOf(each), each.path);
    this.#shapesOfTerms.set(term.key, shape);
    return shape;
  }

  valueText(value: unknown): string {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = valueText(value, this.countSteps);
    this.#texts.set(value, text);
    return text;
  }

  contains(set: ValueSet, value: unknown): boolean {
    this.countSteps(1);
    if (kindOf(value) !== set.kind) return false;
    if (isListed(set)) return set.values.some((each) => this.valueText(each) === this.valueText(value));
    switch (set.kind) {
      case 'number':
        return containsNumber(set, value as number) && !set.except.includes(value);
      case 'string':
        return this.#containsText(set, value as string);
      case 'array':
        return this.#containsItems(set, value as readonly unknown[]);
      case 'object':
        return this.#containsMembers(set, record(value));
      default:
        return false;
    }
  }

  /** Whether a value is valid against a term. */
  allows(term: Term, value: unknown): boolean {
    return this.shape(term).sets.some((set) => this.contains(set, value));
  }

  /** The automaton of a pattern. @throws UnsupportedSchemaError */
  automaton(pattern: string): Automaton {
    const known = this.#automata.get(pattern);
    if (known !== undefined) return known;
    this.countSteps(pattern.length);
    const automaton = supported(() => new PatternAutomaton(readPattern(pattern), this.countSteps));
    this.#automata.set(pattern, automaton);
    return automaton;
  }

  /** The term of a member, if a layer of the set names it or a pattern matches it; else of a further member. */
  memberTerm(set: ObjectSet, name: string): Term {
    this.countSteps(set.layers.length);
    return this.conjunction(
      set.layers.flatMap(({ named, patterns, rest }) => {
        const own = named.get(name);
        const matched = patterns.filter(([pattern]) => accepts(this.automaton(pattern), name));
        const terms = [...(own === undefined ? [] : [own]), ...matched.map(([, value]) => value)];
        return own === undefined && matched.length === 0 ? [rest] : terms;
      }),
    );
  }

  /** The conditions of a set of strings, and its limits of the length. */
  conditionsOf(set: StringSet): { readonly conditions: TextCondition[]; readonly limits: LengthLimits } {
    const formats = set.formats.flatMap((format) => formatPattern(format, set) ?? []);
    const texts = set.except.filter((each) => typeof each === 'string');
    let limits: LengthLimits = set;
    const wanted = [...set.patterns, ...formats].map((pattern) => {
      const repeated = this.#repeatedCharacters(pattern);
      if (repeated === undefined) return this.automaton(pattern);
      const { min, max } = repeated.limits;
      limits = { min: Math.max(limits.min, min), max: Math.min(limits.max, max) };
      return repeated.automaton;
    });
    const conditions = [
      ...wanted.map((automaton) => ({ automaton, wanted: true })),
      ...set.notPatterns.map((each) => ({ automaton: this.automaton(each), wanted: false })),
      ...(texts.length > 0 ? [{ automaton: new LiteralsAutomaton(texts), wanted: false }] : []),
    ];
    return { conditions, limits };
  }

  /** The automaton of a pattern without its limits of the length, because an automaton counts with states. */
  #repeatedCharacters(
    pattern: string,
  ): { readonly automaton: Automaton; readonly limits: LengthLimits } | undefined {
    const repeated = supported(() => repeatedCharacters(readPattern(pattern)));
    if (repeated === undefined) return undefined;
    const key = `unlimited ${pattern}`;
    const automaton = this.#automata.get(key) ?? new PatternAutomaton(repeated.pattern, this.countSteps);
    this.#automata.set(key, automaton);
    return { automaton, limits: repeated.limits };
  }

  #containsText(set: StringSet, text: string): boolean {
    const { length } = [...text];
    if (length < set.min || length > set.max || set.except.includes(text)) return false;
    const formats = set.formats.flatMap((format) => formatPattern(format) ?? []);
    const matches = (pattern: string) => accepts(this.automaton(pattern), text);
    return [...set.patterns, ...formats].every(matches) && !set.notPatterns.some(matches);
  }

  #containsItems(set: ArraySet, items: readonly unknown[]): boolean {
    if (items.length < set.min || items.length > set.max || set.unsupported !== undefined) return false;
    if (set.unique && new Set(items.map((each) => this.valueText(each))).size < items.length) return false;
    return (
      set.layers.every(({ first, rest }) => items.every((item, i) => this.allows(first[i] ?? rest, item))) &&
      set.some.every(({ from, item }) => items.slice(from).some((each) => this.allows(item, each)))
    );
  }

  #containsMembers(set: ObjectSet, members: Readonly<Record<string, unknown>>): boolean {
    const names = Object.keys(members);
    if (names.length < set.min || names.length > set.max) return false;
    if (set.unsupported !== undefined || set.some.length > 0) return false;
    return (
      [...set.required].every((name) => Object.hasOwn(members, name)) &&
      names.every(
        (name) =>
          this.allows(this.memberTerm(set, name), members[name]) &&
          set.names.every((each) => this.allows(each, name)),
      )
    );
  }

  #nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  #locate(schema: JsonSchema, path: SchemaPath): Located {
    const known = this.#located.get(schema);
    if (known !== undefined) return known;
    const located = { id: this.#nextId(), schema, path };
    this.#located.set(schema, located);
    return located;
  }

  #term(all: readonly Located[]): Term {
    const key = all.map(({ id }) => id).join();
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    const term = { key, all };
    this.#terms.set(key, term);
    return term;
  }

  #shapeOf(located: Located): Shape {
    const { id, schema, path, complementOf } = located;
    const known = this.#shapes.get(id);
    if (known === 'open') throw issue(path, "'$ref' refers to itself without an intermediate value");
    if (known !== undefined) return known;
    this.#shapes.set(id, 'open');
    let shape: Shape;
    if (complementOf !== undefined) shape = this.#complement(this.shape(complementOf), path);
    else if (typeof schema === 'boolean') shape = { sets: schema ? ANYTHING : [], exact: true };
    else shape = this.#read(schema, path);
    this.#shapes.set(id, shape);
    return shape;
  }

  /** The values of a schema. */
  #read(schema: JsonSchema, path: SchemaPath): Shape {
    this.countSteps(1 + Object.keys(schema).length);
    const both = (a: Shape, term: Term) => this.#both(a, this.shape(term), path);
    let shape: Shape = { sets: this.#own(schema, path), exact: true };
    const values = 'const' in schema ? [schema.const] : schema.enum;
    if ('const' in schema && 'enum' in schema) throw issue(path, "'enum' combined with 'const'");
    if (Array.isArray(values)) shape = this.#both(shape, this.#listed(values), path);
    if (schema.$dynamicRef !== undefined) throw issue(path, "'$dynamicRef'");
    if (schema.$recursiveRef !== undefined) throw issue(path, "'$recursiveRef'");
    if (schema.allOf !== undefined) {
      const parts = list(schema.allOf);
      if (parts.length > MAX_PARTS) throw issue(path, `'allOf' with more than ${MAX_PARTS} schemas`);
      for (const part of parts) shape = both(shape, this.term(part, path));
    }
    if (typeof schema.$ref === 'string') shape = both(shape, this.#reference(schema.$ref, path));
    if (schema.anyOf !== undefined) shape = this.#both(shape, this.#anyOf(schema.anyOf, path), path);
    if (schema.oneOf !== undefined) shape = this.#both(shape, this.#oneOf(schema.oneOf, path), path);
    if (schema.not !== undefined)
      shape = both(shape, this.complementOf(this.term(schema.not, [...path, 'not'])));
    if (schema.if !== undefined) shape = this.#both(shape, this.#condition(schema, path), path);
    for (const keyword of DEPENDENCIES) {
      if (schema[keyword] === undefined) continue;
      for (const [name, need] of Object.entries(record(schema[keyword]))) {
        shape = this.#both(shape, this.#dependency(name, need, [...path, keyword, name]), path);
      }
    }
    return schema.unevaluatedProperties === undefined ? shape : this.#evaluated(shape, schema, path);
  }

  #reference(reference: string, path: SchemaPath): Term {
    if (!/^#(\/|$)/.test(reference)) throw issue(path, "'$ref' outside the schema");
    let found: unknown = this.#root;
    const steps = reference.slice(1).split('/').slice(1);
    this.countSteps(steps.length);
    for (const step of steps) {
      const key = decodedStep(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const within = (Array.isArray(found) ? found : record(found)) as Readonly<Record<string, unknown>>;
      found = Object.hasOwn(within, key) ? within[key] : undefined;
    }
    if (typeof found !== 'boolean' && (typeof found !== 'object' || found === null || Array.isArray(found))) {
      throw issue(path, "'$ref' to a missing schema");
    }
    return this.term(found, [reference]);
  }

  /** The values according to the keywords of the types. */
  #own(schema: JsonSchema, path: SchemaPath): readonly ValueSet[] {
    const constrained = new Set<string>();
    for (const keyword of Object.keys(schema)) {
      const kind = TYPE_OF_KEYWORD.get(keyword);
      if (kind !== undefined && schema[keyword] !== undefined) constrained.add(kind);
    }
    if (schema.type === undefined && constrained.size === 0) return ANYTHING;
    const types = list(schema.type);
    if (types.length > TYPES.length) throw issue(path, "duplicate 'type'");
    if (types.some((type) => typeof type !== 'string' || !TYPES.includes(type)))
      throw issue(path, "unknown 'type'");
    const kinds = new Set(types.map((type) => (type === 'integer' ? 'number' : type)) as Kind[]);
    if (schema.type !== undefined && kinds.size === 0) throw issue(path, "empty 'type'");
    const integer = types.includes('integer') && !types.includes('number');
    const whole = schema.type === undefined ? ANYTHING : NAMED_TYPES;
    const sets = kinds.size === 0 ? ANYTHING : [...kinds].map((kind) => wholeOf(kind) as ValueSet);
    return sets.map((set) => {
      const isWhole = !constrained.has(set.kind);
      if (set.kind === 'number' && integer && isWhole) return INTEGER;
      if (isWhole) return whole.find(({ kind }) => kind === set.kind) as ValueSet;
      return at(path, () => this.#constrained(set.kind, schema, path, integer));
    });
  }

  #constrained(kind: Kind, schema: JsonSchema, path: SchemaPath, integer: boolean): ValueSet {
    switch (kind) {
      case 'object':
        return this.#object(schema, path);
      case 'array':
        return this.#array(schema, path);
      case 'string':
        return stringSet(schema);
      default:
        return numberSet(schema, integer);
    }
  }

  #object(schema: JsonSchema, path: SchemaPath): ObjectSet {
    const { required, additionalProperties: more } = schema;
    const properties = record(schema.properties);
    this.#countChoices(Object.keys(properties).length);
    const named = new Map(
      Object.entries(properties).map(([name, each]) => [
        name,
        this.term(each, [...path, 'properties', name]),
      ]),
    );
    const patterns = Object.entries(record(schema.patternProperties)).map(
      ([pattern, each]) => [pattern, this.term(each, [...path, 'patternProperties', pattern])] as const,
    );
    const names = new Set<string>();
    for (const name of list(required)) {
      if (typeof name !== 'string') throw issue(path, "'required' with an item that is not a string");
      if (!named.has(name)) this.#countChoices(1);
      names.add(name);
    }
    const rest = more === undefined ? ANY : this.term(more, [...path, 'additionalProperties']);
    const layer = { named, patterns, rest, restGiven: more !== undefined, evaluates: true };
    const ofNames = schema.propertyNames;
    return {
      kind: 'object',
      layers: named.size > 0 || patterns.length > 0 || more !== undefined ? [layer] : [],
      required: names,
      min: countOf(schema, 'minProperties', 0),
      max: countOf(schema, 'maxProperties', Number.POSITIVE_INFINITY),
      names: ofNames === undefined ? [] : [this.term(ofNames, [...path, 'propertyNames'])],
      some: [],
    };
  }

  #array(schema: JsonSchema, path: SchemaPath): ArraySet {
    // Older drafts use an array in `items` instead of `prefixItems`, and `additionalItems`.
    const older = Array.isArray(schema.items);
    const after = older ? schema.additionalItems : schema.items;
    const first = list(older ? schema.items : schema.prefixItems).map((each, i) =>
      this.term(each, [...path, 'prefixItems', i]),
    );
    const rest = after === undefined ? ANY : this.term(after, [...path, 'items']);
    const { contains, uniqueItems } = schema;
    const unsupported = ['unevaluatedItems', 'minContains', 'maxContains'].find(
      (keyword) =>
        schema[keyword] !== undefined && (keyword === 'unevaluatedItems' || contains !== undefined),
    );
    return {
      kind: 'array',
      layers:
        first.length > 0 || after !== undefined ? [{ first, rest, restGiven: after !== undefined }] : [],
      min: countOf(schema, 'minItems', 0),
      max: countOf(schema, 'maxItems', Number.POSITIVE_INFINITY),
      unique: uniqueItems === true,
      some: contains === undefined ? [] : [{ from: 0, item: this.term(contains, [...path, 'contains']) }],
      ...(unsupported !== undefined && { unsupported: `'${unsupported}'` }),
    };
  }

  #listed(values: readonly unknown[]): Shape {
    this.#countChoices(values.length);
    const byKind = Map.groupBy(values, kindOf);
    return { sets: [...byKind].map(([kind, each]) => ({ kind, values: each })), exact: true };
  }

  /** The choices of `anyOf` or `oneOf`. */
  #choicesOf(value: unknown, keyword: string, path: SchemaPath): Term[] {
    const terms = list(value).map((each, i) => this.term(each, [...path, keyword, i]));
    this.#countChoices(terms.length);
    const possible = terms.filter((term) => term !== this.nothing);
    if (possible.length === 0) throw issue(path, `empty '${keyword}'`);
    return possible;
  }

  #anyOf(value: unknown, path: SchemaPath): Shape {
    return union(this.#choicesOf(value, 'anyOf', path).map((term) => this.shape(term)));
  }

  #oneOf(value: unknown, path: SchemaPath): Shape {
    const shapes = this.#choicesOf(value, 'oneOf', path).map((term) => this.shape(term));
    const kinds = new Set(shapes.flatMap(({ sets }) => sets.map(({ kind }) => kind)));
    const sets: ValueSet[] = [];
    let exact = true;
    for (const kind of kinds) {
      const choices = shapes
        .map((shape) => ({ ...shape, sets: shape.sets.filter((set) => set.kind === kind) }))
        .filter((choice) => choice.sets.length > 0 || !choice.exact);
      const ofKind = this.#exclusive(choices, path);
      exact &&= ofKind.exact;
      sets.push(...ofKind.sets);
    }
    if (sets.length === 0) throw issue(path, "'oneOf' with schemas that are not mutually exclusive");
    return { sets: merged(sets), exact };
  }

  /** The values of one type that exactly one of the choices allows. */
  #exclusive(choices: readonly Shape[], path: SchemaPath): Shape {
    if (choices.length === 1 && choices[0]?.exact) return choices[0];
    if (choices.some(({ exact }) => !exact)) {
      throw issue(path, "'oneOf' with schemas that are not mutually exclusive");
    }
    if (choices.every(({ sets }) => sets.every(isListed))) return this.#listedOnce(choices);
    if (this.#haveKey(choices)) return { sets: choices.flatMap(({ sets }) => sets), exact: true };
    let exact = true;
    const sets = choices.flatMap((choice, i) => {
      let left = choice.sets;
      for (const [j, other] of choices.entries()) {
        this.countSteps(1);
        if (i === j || left.length === 0 || this.#areDisjoint(left, other.sets, 0)) continue;
        for (const set of other.sets) {
          exact &&= hasExactComplement(set);
          left = this.#each(left, complementWithin(set, this), path);
        }
      }
      return left;
    });
    return { sets, exact };
  }

  #listedOnce(choices: readonly Shape[]): Shape {
    const counts = new Map<string, number>();
    const texts = choices.map(({ sets }) => {
      const values = sets.flatMap((set) => (isListed(set) ? set.values : []));
      return new Map(values.map((value) => [this.valueText(value), value]));
    });
    for (const text of texts.flatMap((each) => [...each.keys()]))
      counts.set(text, (counts.get(text) ?? 0) + 1);
    const values = texts.flatMap((each) =>
      [...each].flatMap(([text, value]) => (counts.get(text) === 1 ? [value] : [])),
    );
    const [kind] = choices.flatMap(({ sets }) => sets.map((set) => set.kind));
    return { sets: values.length === 0 || kind === undefined ? [] : [{ kind, values }], exact: true };
  }

  /** Whether a member that all objects require has different listed values in each choice. */
  #haveKey(choices: readonly Shape[]): boolean {
    const objects = choices.map(({ sets }) => (sets.length === 1 ? sets[0] : undefined));
    const [first] = objects;
    if (first === undefined || isListed(first) || first.kind !== 'object') return false;
    return [...first.required].some((name) => {
      const seen = new Set<string>();
      return objects.every((set) => {
        if (set === undefined || isListed(set) || set.kind !== 'object' || !set.required.has(name))
          return false;
        const { sets, exact } = this.shape(this.memberTerm(set, name));
        const values = sets.every(isListed) ? sets.flatMap((each) => each.values) : undefined;
        if (values === undefined || !exact) return false;
        const texts = [...new Set(values.map((value) => this.valueText(value)))];
        const isNew = texts.every((text) => !seen.has(text));
        for (const text of texts) seen.add(text);
        return isNew;
      });
    });
  }

  #areDisjoint(a: readonly ValueSet[], b: readonly ValueSet[], depth: number): boolean {
    return a.every((x) => b.every((y) => this.#setsAreDisjoint(x, y, depth)));
  }

  /** Whether two sets certainly have no common value. */
  #setsAreDisjoint(a: ValueSet, b: ValueSet, depth: number): boolean {
    this.countSteps(1);
    if (a.kind !== b.kind) return true;
    if (isWhole(a) || isWhole(b) || a === b) return false;
    if (isListed(a) && isListed(b)) {
      const texts = new Set(a.values.map((each) => this.valueText(each)));
      return !b.values.some((each) => texts.has(this.valueText(each)));
    }
    if (isListed(a) || isListed(b)) return false;
    if (intersection(a, b, this) === undefined) return true;
    if (a.kind !== 'object' || b.kind !== 'object' || depth > MAX_COMPARED_DEPTH) return false;
    if (a.names.length > 0 || b.names.length > 0) return false;
    return [...new Set([...a.required, ...b.required])].some((name) => {
      const [ofA, ofB] = [this.memberTerm(a, name), this.memberTerm(b, name)];
      if (ofA === this.nothing || ofB === this.nothing) return true;
      if (ofA.all.length === 0 || ofB.all.length === 0 || ofA === ofB) return false;
      const [shapeA, shapeB] = [this.shape(ofA), this.shape(ofB)];
      return shapeA.exact && shapeB.exact && this.#areDisjoint(shapeA.sets, shapeB.sets, depth + 1);
    });
  }

  #condition(schema: JsonSchema, path: SchemaPath): Shape {
    const condition = this.term(schema.if, [...path, 'if']);
    const branch = (keyword: string) =>
      schema[keyword] === undefined ? ANY : this.term(schema[keyword], [...path, keyword]);
    const [met, unmet] = [branch('then'), branch('else')];
    if (met === unmet) return this.shape(met);
    return union([
      this.#both(this.shape(condition), this.shape(met), path),
      this.#both(this.shape(this.complementOf(condition)), this.shape(unmet), path),
    ]);
  }

  /** The values that lack a member, or satisfy what the member requires. */
  #dependency(name: string, need: unknown, path: SchemaPath): Shape {
    const others = ANYTHING.filter(({ kind }) => kind !== 'object');
    const present: Shape = { sets: [objectWith(name, ANY)], exact: true };
    const needed = Array.isArray(need)
      ? { sets: [this.#object({ required: need }, path)], exact: true }
      : this.shape(this.term(need, path));
    const met = this.#both(present, needed, path);
    return { sets: [...others, ...met.sets, objectWithout(name, this)], exact: met.exact };
  }

  /** Adds `unevaluatedProperties` to the objects of a schema. */
  #evaluated(shape: Shape, schema: JsonSchema, path: SchemaPath): Shape {
    const rest = this.term(schema.unevaluatedProperties, [...path, 'unevaluatedProperties']);
    const sets = shape.sets.map((set): ValueSet => {
      if (isListed(set) || set.kind !== 'object') return set;
      const layers = set.layers.filter(({ evaluates }) => evaluates);
      if (layers.some(({ restGiven }) => restGiven)) return set;
      const named = new Map(
        layers.flatMap((layer) => [...layer.named.keys()].map((name) => [name, ANY] as const)),
      );
      const patterns = layers.flatMap((layer) => layer.patterns.map(([pattern]) => [pattern, ANY] as const));
      const layer: MemberLayer = { named, patterns, rest, restGiven: true, evaluates: true };
      return { ...set, layers: [...set.layers, layer] };
    });
    return { sets, exact: false };
  }

  #both(a: Shape, b: Shape, path: SchemaPath): Shape {
    if (b.sets === ANYTHING) return a;
    if (a.sets === ANYTHING) return b;
    const exact = a.exact && b.exact && !(filtersValues(a) && b.sets.length > 0) && !filtersValues(b);
    return { sets: merged(this.#each(a.sets, b.sets, path)), exact };
  }

  /** The intersections of each set of one list with each of the other. */
  #each(a: readonly ValueSet[], b: readonly ValueSet[], path: SchemaPath): ValueSet[] {
    this.countSteps((a.length * b.length) / 4);
    const sets = new Set<ValueSet>();
    for (const x of a) {
      for (const y of b) {
        const both = x.kind === y.kind ? intersection(x, y, this) : undefined;
        if (both !== undefined) sets.add(both);
      }
      if (sets.size > MAX_SETS) throw issue(path, 'too many combinations of choices');
    }
    return [...sets];
  }

  /** The values outside a shape. The complement of an inexact shape could have values of its schema. */
  #complement(shape: Shape, path: SchemaPath): Shape {
    if (!shape.exact) return { sets: [], exact: false };
    const sets = NAMED_TYPES.flatMap((whole) =>
      shape.sets
        .filter(({ kind }) => kind === whole.kind)
        .reduce<readonly ValueSet[]>(
          (left, set) => this.#each(left, complementWithin(set, this), path),
          [whole],
        ),
    );
    return { sets, exact: shape.sets.every((set) => isWhole(set) || hasExactComplement(set)) };
  }

  #countChoices(count: number): void {
    this.#choices += count;
    if (this.#choices <= MAX_CHOICES) return;
    throw new UnsupportedSchemaError(`more than ${MAX_CHOICES} enum values, choices and properties in total`);
  }
}

const INTEGER: NumberSet = { ...ANY_NUMBER, integer: true };

/** Whether an intersection with a shape checks listed arrays or objects, which may exclude too many. */
function filtersValues({ sets }: Shape): boolean {
  return sets.some((set) => isListed(set) && (set.kind === 'array' || set.kind === 'object'));
}

/** Combines the listed values of each type. */
function merged(sets: readonly ValueSet[]): readonly ValueSet[] {
  const listed = sets.filter((set): set is ListedSet => isListed(set) && !isWhole(set));
  const values = new Map<Kind, Set<unknown>>();
  for (const set of listed) {
    const all = values.get(set.kind) ?? new Set();
    values.set(set.kind, all);
    for (const value of set.values) all.add(value);
  }
  const result = new Set<ValueSet>();
  const first = new Set<Kind>();
  for (const set of sets) {
    if (!isListed(set) || isWhole(set)) result.add(set);
    else if (!first.has(set.kind)) {
      first.add(set.kind);
      const all = values.get(set.kind) as Set<unknown>;
      result.add(all.size === set.values.length ? set : { kind: set.kind, values: [...all] });
    }
  }
  return [...result];
}

function union(shapes: readonly Shape[]): Shape {
  return { sets: merged(shapes.flatMap(({ sets }) => sets)), exact: shapes.every(({ exact }) => exact) };
}

function stringSet(schema: JsonSchema): StringSet {
  const { pattern, format } = schema;
  if (pattern !== undefined && typeof pattern !== 'string') {
    throw new UnsupportedSchemaError("'pattern' is not a string");
  }
  return {
    ...ANY_STRING,
    min: countOf(schema, 'minLength', 0),
    max: countOf(schema, 'maxLength', Number.POSITIVE_INFINITY),
    patterns: pattern === undefined ? [] : [pattern],
    // Other formats are annotations.
    formats: typeof format === 'string' && Object.hasOwn(FORMATS, format) ? [format] : [],
  };
}

function numberSet(schema: JsonSchema, integer: boolean): NumberSet {
  const limits: Record<string, number> = {};
  for (const keyword of [...NUMBER_LIMITS, 'multipleOf']) {
    const value = schema[keyword];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new UnsupportedSchemaError(`'${keyword}' is not a finite number`);
    }
    limits[keyword] = value;
  }
  const { multipleOf, ...bounds } = limits;
  return { ...ANY_NUMBER, integer, ...bounds, multipleOf: multipleOf === undefined ? [] : [multipleOf] };
}

function containsNumber(set: NumberSet, value: number): boolean {
  const isMultiple = (step: number) => Math.abs(value / step - Math.round(value / step)) < 1e-9;
  return (
    (!set.integer || Number.isInteger(value)) &&
    !(set.fractional && Number.isInteger(value)) &&
    value >= (set.minimum ?? -Infinity) &&
    value <= (set.maximum ?? Infinity) &&
    value > (set.exclusiveMinimum ?? -Infinity) &&
    value < (set.exclusiveMaximum ?? Infinity) &&
    set.multipleOf.every(isMultiple) &&
    !set.notMultipleOf.some(isMultiple)
  );
}

/** The schema that `not` contains, if a schema has no other keyword that constrains values. */
function negatedSchema(schema: Schema): unknown {
  if (typeof schema === 'boolean' || schema.not === undefined) return undefined;
  return Object.keys(schema).every((keyword) => keyword === 'not' || TEXTS.has(keyword))
    ? schema.not
    : undefined;
}

/** The type of a value. */
function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Kind;
}

/** Runs a function and adds the path to its errors. */
export function at<T>(path: SchemaPath, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UnsupportedSchemaError) || / \(at [^)]*\)$/.test(error.message)) throw error;
    throw issue(path, error.message);
  }
}

/** An error with the place in the schema. */
export function issue(path: SchemaPath, what: string): UnsupportedSchemaError {
  const place = path.length === 0 ? 'at the top level' : `at ${path.join('/').slice(0, MAX_PATH_LENGTH)}`;
  return new UnsupportedSchemaError(`${what} (${place})`);
}

/** Decodes a step of a JSON pointer in a URI fragment. Invalid encodings are left as they are. */
function decodedStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
