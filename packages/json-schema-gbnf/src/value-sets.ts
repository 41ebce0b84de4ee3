/**
 * Sets of JSON values of one type, with intersection and complement. A schema is a union of such sets. The complement may
 * be smaller than the exact one, never larger.
 */

import type { JsonSchema } from './schema-values.ts';

export type Schema = JsonSchema | boolean;
export type SchemaPath = readonly (string | number)[];

/** A schema at its place. */
export interface Located {
  readonly id: number;
  readonly schema: Schema;
  readonly path: SchemaPath;
  /** If present, the values are those outside this term, and the schema is ignored. */
  readonly complementOf?: Term;
}

/** The values that are valid against all schemas of a list. An empty list allows all values. */
export interface Term {
  readonly key: string;
  readonly all: readonly Located[];
}

/** Listed values of one type. */
export interface ListedSet {
  readonly kind: Kind;
  readonly values: readonly unknown[];
}

export interface NumberSet {
  readonly kind: 'number';
  readonly integer: boolean;
  /** Whether integers are excluded. */
  readonly fractional: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf: readonly number[];
  readonly notMultipleOf: readonly number[];
  readonly except: readonly unknown[];
}

export interface StringSet {
  readonly kind: 'string';
  readonly min: number;
  readonly max: number;
  readonly patterns: readonly string[];
  readonly notPatterns: readonly string[];
  readonly formats: readonly string[];
  readonly except: readonly unknown[];
}

/** Items of an array: the first ones, and those after them. */
interface ItemLayer {
  readonly first: readonly Term[];
  readonly rest: Term;
  /** Whether the schema has a keyword for `rest`. */
  readonly restGiven: boolean;
}

export interface ArraySet {
  readonly kind: 'array';
  readonly layers: readonly ItemLayer[];
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  /** Items of which the array must contain at least one, from this index on. */
  readonly some: readonly { readonly from: number; readonly item: Term }[];
  /** Keyword that the grammar cannot express. */
  readonly unsupported?: string;
}

/** Members of an object according to one schema. Members that no name or pattern selects are `rest`. */
export interface MemberLayer {
  readonly named: ReadonlyMap<string, Term>;
  readonly patterns: readonly (readonly [pattern: string, value: Term])[];
  readonly rest: Term;
  /** Whether the schema has a keyword for `rest`. */
  readonly restGiven: boolean;
  /** Whether the layer counts as evaluated for `unevaluatedProperties`. */
  readonly evaluates: boolean;
}

/** A member that an object must contain, with a name that no `except` lists and that all or none of the patterns match. */
export interface SomeMember {
  readonly matching: readonly string[];
  readonly avoiding: readonly string[];
  readonly except: readonly string[];
  readonly name?: Term;
  readonly value: Term;
}

export interface ObjectSet {
  readonly kind: 'object';
  readonly layers: readonly MemberLayer[];
  readonly required: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
  readonly names: readonly Term[];
  readonly some: readonly SomeMember[];
  /** Keyword that the grammar cannot express. */
  readonly unsupported?: string;
}

export type ValueSet = ListedSet | NumberSet | StringSet | ArraySet | ObjectSet;
export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

const endless = Number.POSITIVE_INFINITY;

export const ANY_NUMBER: NumberSet = {
  kind: 'number',
  integer: false,
  fractional: false,
  multipleOf: [],
  notMultipleOf: [],
  except: [],
};
export const ANY_STRING: StringSet = {
  kind: 'string',
  min: 0,
  max: endless,
  patterns: [],
  notPatterns: [],
  formats: [],
  except: [],
};
export const ANY_ARRAY: ArraySet = {
  kind: 'array',
  layers: [],
  min: 0,
  max: endless,
  unique: false,
  some: [],
};
export const ANY_OBJECT: ObjectSet = {
  kind: 'object',
  layers: [],
  required: new Set(),
  min: 0,
  max: endless,
  names: [],
  some: [],
};
/** All values, by type. */
export const ANYTHING: readonly ValueSet[] = [
  ANY_OBJECT,
  ANY_ARRAY,
  ANY_STRING,
  ANY_NUMBER,
  { kind: 'boolean', values: [true, false] },
  { kind: 'null', values: [null] },
];

/** The same sets for a schema that names their types: the others are left out if a schema constrains only some types. */
export const NAMED_TYPES: readonly ValueSet[] = ANYTHING.map((set) => ({ ...set }));

/** All values of a type that a schema names. */
export function wholeOf(kind: string): ValueSet | undefined {
  return NAMED_TYPES.find((set) => set.kind === kind);
}

export function isListed(set: ValueSet): set is ListedSet {
  return 'values' in set;
}

/** Whether a set has all values of its type. */
export function isWhole(set: ValueSet): boolean {
  return ANYTHING.includes(set) || NAMED_TYPES.includes(set);
}

/** A union of sets. It may lack values of its schema if it is not exact. */
export interface Shape {
  readonly sets: readonly ValueSet[];
  readonly exact: boolean;
}

/** What the intersection and the complement need of the schemas. */
export interface SetContext {
  readonly nothing: Term;
  countSteps(count: number): void;
  valueText(value: unknown): string;
  /** Whether a value is in a set. */
  contains(set: ValueSet, value: unknown): boolean;
  complementOf(term: Term): Term;
}

/** The values that are in both sets; undefined if there is none. */
export function intersection(a: ValueSet, b: ValueSet, context: SetContext): ValueSet | undefined {
  if (a.kind !== b.kind) return undefined;
  if (a === b || ANYTHING.includes(b)) return a;
  if (isWhole(a)) return b;
  if (isWhole(b)) return a;
  context.countSteps(2);
  if (isListed(a) || isListed(b)) return listedIntersection(a, b, context);
  if (a.kind === 'number' && b.kind === 'number') return numberIntersection(a, b);
  if (a.kind === 'string' && b.kind === 'string') return stringIntersection(a, b);
  if (a.kind === 'array' && b.kind === 'array') {
    const both = {
      kind: a.kind,
      layers: [...a.layers, ...b.layers],
      some: [...a.some, ...b.some],
      min: Math.max(a.min, b.min),
      max: Math.min(a.max, b.max),
      unique: a.unique || b.unique,
      ...unsupportedOf(a, b),
    };
    return both.min > both.max ? undefined : both;
  }
  if (a.kind === 'object' && b.kind === 'object') return objectIntersection(a, b, context);
  return undefined;
}

function listedIntersection(a: ValueSet, b: ValueSet, context: SetContext): ListedSet | undefined {
  const [listed, other] = isListed(a) ? [a, b] : [b as ListedSet, a];
  context.countSteps(listed.values.length);
  let values: readonly unknown[];
  if (isListed(other)) {
    const texts = new Set(other.values.map((each) => context.valueText(each)));
    values = listed.values.filter((each) => texts.has(context.valueText(each)));
  } else values = listed.values.filter((each) => context.contains(other, each));
  return values.length === 0 ? undefined : { kind: listed.kind, values };
}

/** The stricter of two limits. */
function stricter(a: number | undefined, b: number | undefined, choose: (a: number, b: number) => number) {
  return a === undefined || b === undefined ? (a ?? b) : choose(a, b);
}

function numberIntersection(a: NumberSet, b: NumberSet): NumberSet | undefined {
  const integer = a.integer || b.integer;
  const fractional = a.fractional || b.fractional;
  if (integer && fractional) return undefined;
  const limits = {
    minimum: stricter(a.minimum, b.minimum, Math.max),
    maximum: stricter(a.maximum, b.maximum, Math.min),
    exclusiveMinimum: stricter(a.exclusiveMinimum, b.exclusiveMinimum, Math.max),
    exclusiveMaximum: stricter(a.exclusiveMaximum, b.exclusiveMaximum, Math.min),
  };
  const {
    minimum = -endless,
    maximum = endless,
    exclusiveMinimum = -endless,
    exclusiveMaximum = endless,
  } = limits;
  if (minimum > maximum || exclusiveMinimum >= exclusiveMaximum) return undefined;
  if (minimum >= exclusiveMaximum || exclusiveMinimum >= maximum) return undefined;
  return {
    kind: 'number',
    integer,
    fractional,
    ...(Object.fromEntries(Object.entries(limits).filter(([, each]) => each !== undefined)) as object),
    multipleOf: [...new Set([...a.multipleOf, ...b.multipleOf])],
    notMultipleOf: [...new Set([...a.notMultipleOf, ...b.notMultipleOf])],
    except: [...a.except, ...b.except],
  };
}

function stringIntersection(a: StringSet, b: StringSet): StringSet | undefined {
  const [min, max] = [Math.max(a.min, b.min), Math.min(a.max, b.max)];
  if (min > max) return undefined;
  return {
    kind: 'string',
    min,
    max,
    patterns: [...new Set([...a.patterns, ...b.patterns])],
    notPatterns: [...new Set([...a.notPatterns, ...b.notPatterns])],
    formats: [...new Set([...a.formats, ...b.formats])],
    except: [...a.except, ...b.except],
  };
}

function unsupportedOf(a: ArraySet | ObjectSet, b: ArraySet | ObjectSet): { readonly unsupported?: string } {
  const unsupported = a.unsupported ?? b.unsupported;
  return unsupported === undefined ? {} : { unsupported };
}

function objectIntersection(a: ObjectSet, b: ObjectSet, context: SetContext): ObjectSet | undefined {
  context.countSteps(a.required.size + b.required.size + a.layers.length + b.layers.length);
  const required = b.required.size === 0 ? a.required : new Set([...a.required, ...b.required]);
  const layers = [...a.layers, ...b.layers.filter((each) => !a.layers.includes(each))];
  const [min, max] = [Math.max(a.min, b.min), Math.min(a.max, b.max)];
  if (Math.max(min, required.size) > max) return undefined;
  const forbidden = (name: string) => layers.some(({ named }) => named.get(name) === context.nothing);
  for (const name of required) if (forbidden(name)) return undefined;
  return {
    kind: 'object',
    layers,
    required,
    min,
    max,
    names: [...a.names, ...b.names],
    some: [...a.some, ...b.some],
    ...unsupportedOf(a, b),
  };
}

/** Whether {@link complementWithin} has all values outside a set. */
export function hasExactComplement(set: ValueSet): boolean {
  if (isListed(set)) return set.kind !== 'array' && set.kind !== 'object';
  switch (set.kind) {
    case 'number':
      return true;
    case 'string':
      return set.formats.length === 0;
    case 'array':
      return !set.unique && set.unsupported === undefined;
    case 'object':
      return set.some.length === 0 && set.unsupported === undefined;
    default:
      return false;
  }
}

/** Values of the type of a set that are not in it. */
export function complementWithin(set: ValueSet, context: SetContext): ValueSet[] {
  if (isWhole(set)) return [];
  if (isListed(set)) return complementOfListed(set);
  switch (set.kind) {
    case 'number':
      return complementOfNumbers(set);
    case 'string':
      return complementOfStrings(set);
    case 'array':
      return complementOfArrays(set, context);
    case 'object':
      return complementOfObjects(set, context);
  }
}

function complementOfListed({ kind, values }: ListedSet): ValueSet[] {
  switch (kind) {
    case 'boolean':
      return values.length > 1 ? [] : [{ kind, values: [!values[0]] }];
    case 'number':
      return [{ ...ANY_NUMBER, except: values }];
    case 'string':
      return [{ ...ANY_STRING, except: values }];
    // Other arrays and objects are values that some schema cannot list, so they are left out.
    default:
      return [];
  }
}

function complementOfNumbers(set: NumberSet): ValueSet[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = set;
  return [
    ...(set.integer ? [{ ...ANY_NUMBER, fractional: true }] : []),
    ...(set.fractional ? [{ ...ANY_NUMBER, integer: true }] : []),
    ...(minimum === undefined ? [] : [{ ...ANY_NUMBER, exclusiveMaximum: minimum }]),
    ...(maximum === undefined ? [] : [{ ...ANY_NUMBER, exclusiveMinimum: maximum }]),
    ...(exclusiveMinimum === undefined ? [] : [{ ...ANY_NUMBER, maximum: exclusiveMinimum }]),
    ...(exclusiveMaximum === undefined ? [] : [{ ...ANY_NUMBER, minimum: exclusiveMaximum }]),
    ...set.multipleOf.map((step) => ({ ...ANY_NUMBER, notMultipleOf: [step] })),
    ...set.notMultipleOf.map((step) => ({ ...ANY_NUMBER, multipleOf: [step] })),
    ...(set.except.length > 0 ? [{ kind: 'number' as const, values: set.except }] : []),
  ];
}

/** A format may be an annotation, so its complement is empty. */
function complementOfStrings(set: StringSet): ValueSet[] {
  return [
    ...(set.min > 0 ? [{ ...ANY_STRING, max: set.min - 1 }] : []),
    ...(set.max < endless ? [{ ...ANY_STRING, min: set.max + 1 }] : []),
    ...set.patterns.map((pattern) => ({ ...ANY_STRING, notPatterns: [pattern] })),
    ...set.notPatterns.map((pattern) => ({ ...ANY_STRING, patterns: [pattern] })),
    ...(set.except.length > 0 ? [{ kind: 'string' as const, values: set.except }] : []),
  ];
}

function complementOfArrays(set: ArraySet, context: SetContext): ValueSet[] {
  const any: Term = { key: '', all: [] };
  return [
    ...(set.min > 0 ? [{ ...ANY_ARRAY, max: set.min - 1 }] : []),
    ...(set.max < endless ? [{ ...ANY_ARRAY, min: set.max + 1 }] : []),
    ...set.layers.flatMap(({ first, rest }) => [
      ...first.flatMap((item, i): ArraySet[] => {
        if (item.all.length === 0) return [];
        const not = [...first.slice(0, i).map(() => any), context.complementOf(item)];
        return [{ ...ANY_ARRAY, min: i + 1, layers: [{ first: not, rest: any, restGiven: false }] }];
      }),
      ...(rest.all.length > 0
        ? [{ ...ANY_ARRAY, some: [{ from: first.length, item: context.complementOf(rest) }] }]
        : []),
    ]),
    ...set.some.map(({ from, item }): ArraySet => {
      const layer = {
        first: Array.from({ length: from }, () => any),
        rest: context.complementOf(item),
        restGiven: true,
      };
      return { ...ANY_ARRAY, layers: [layer] };
    }),
  ];
}

/** Objects that have a member with a value. */
export function objectWith(name: string, value: Term): ObjectSet {
  return {
    ...ANY_OBJECT,
    layers: value.all.length === 0 ? [] : [layerOf(name, value)],
    required: new Set([name]),
  };
}

/** Objects that do not have a member. */
export function objectWithout(name: string, context: SetContext): ObjectSet {
  return { ...ANY_OBJECT, layers: [layerOf(name, context.nothing)] };
}

function layerOf(name: string, value: Term): MemberLayer {
  const rest = { key: '', all: [] };
  return { named: new Map([[name, value]]), patterns: [], rest, restGiven: false, evaluates: false };
}

function complementOfObjects(set: ObjectSet, context: SetContext): ValueSet[] {
  const sets: ObjectSet[] = [...set.required].map((name) => objectWithout(name, context));
  if (set.min > 0) sets.push({ ...ANY_OBJECT, max: set.min - 1 });
  if (set.max < endless) sets.push({ ...ANY_OBJECT, min: set.max + 1 });
  for (const { named, patterns, rest } of set.layers) {
    context.countSteps(named.size + patterns.length);
    for (const [name, value] of named) {
      if (value.all.length > 0) sets.push(objectWith(name, context.complementOf(value)));
    }
    for (const [pattern, value] of patterns) {
      if (value.all.length === 0) continue;
      const some = { matching: [pattern], avoiding: [], except: [], value: context.complementOf(value) };
      sets.push({ ...ANY_OBJECT, some: [some] });
    }
    if (rest.all.length > 0) {
      const avoiding = patterns.map(([pattern]) => pattern);
      const some = { matching: [], avoiding, except: [...named.keys()], value: context.complementOf(rest) };
      sets.push({ ...ANY_OBJECT, some: [some] });
    }
  }
  for (const name of set.names) {
    const some = {
      matching: [],
      avoiding: [],
      except: [],
      name: context.complementOf(name),
      value: { key: '', all: [] },
    };
    sets.push({ ...ANY_OBJECT, some: [some] });
  }
  // The complement of a member that must exist is not expressed.
  return sets;
}
