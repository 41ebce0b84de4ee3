/** Intersection of two JSON Schemas. */

import type { JsonSchema } from '../../../contract/engines/text.ts';

/** An unsupported part of a schema; the message names the keyword. */
export class UnsupportedSchemaError extends Error {
  override readonly name = 'UnsupportedSchemaError';
}

/** Annotations, which do not constrain the value. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly contentMediaType contentEncoding'.split(
    ' ',
  ),
);

/** The stricter of two limits. */
const LIMITS: Readonly<Record<string, (a: number, b: number) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
};

/** Counts work; throws when the limit is exceeded. */
export type CountSteps = (count: number) => void;

/** Characters of a value that count as one step. */
const CHARACTERS_OF_A_LOOK = 16;

/** Merges two schemas. @throws UnsupportedSchemaError when the intersection cannot be expressed, or the error of `countSteps`. */
export function mergeSchemas(a: JsonSchema, b: JsonSchema, countSteps: CountSteps): JsonSchema {
  countSteps(Object.keys(a).length + Object.keys(b).length);
  const merged: Record<string, unknown> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const other = merged[keyword];
    merged[keyword] =
      other === undefined || ANNOTATIONS.has(keyword)
        ? value
        : mergedValue(keyword, other, value, countSteps);
  }
  for (const [closed, open] of [
    [a, b],
    [b, a],
  ] as const) {
    // A closed object allows only the properties of the same schema.
    const { additionalProperties = true } = closed;
    if (additionalProperties === true) continue;
    const known = record(closed.properties);
    const names = Object.keys(record(open.properties));
    countSteps(names.length);
    if (names.some((name) => !Object.hasOwn(known, name))) {
      throw new UnsupportedSchemaError(`'additionalProperties' combined with properties of another schema`);
    }
  }
  return merged;
}

function mergedValue(keyword: string, a: unknown, b: unknown, countSteps: CountSteps): unknown {
  if (isSame(a, b, countSteps)) return a;
  const limit = LIMITS[keyword];
  if (limit !== undefined && typeof a === 'number' && typeof b === 'number') return limit(a, b);
  switch (keyword) {
    case 'properties':
      return mergedProperties(record(a), record(b), countSteps);
    case 'required':
      countSteps(list(a).length + list(b).length);
      return [...new Set([...list(a), ...list(b)])];
    case 'type':
      countSteps(list(a).length * list(b).length);
      return sharedTypes(list(a), list(b));
    case 'enum': {
      const texts = new Set(list(b).map((value) => valueText(value, countSteps)));
      return list(a).filter((value) => texts.has(valueText(value, countSteps)));
    }
    default:
      throw new UnsupportedSchemaError(`conflicting values of '${keyword}'`);
  }
}

function mergedProperties(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  countSteps: CountSteps,
): Record<string, unknown> {
  countSteps(Object.keys(a).length + Object.keys(b).length);
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b)) {
    merged.set(name, merged.has(name) ? { allOf: [merged.get(name), schema] } : schema);
  }
  return Object.fromEntries(merged);
}

function sharedTypes(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const has = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a.filter((type) => has(b, type)), ...b.filter((type) => has(a, type))])];
}

/** Deep equality, independent of the order of members. */
function isSame(a: unknown, b: unknown, countSteps: CountSteps): boolean {
  countSteps(1);
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, i) => isSame(each, b[i], countSteps));
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [membersA, membersB] = [record(a), record(b)];
  const names = Object.keys(membersA);
  return (
    names.length === Object.keys(membersB).length &&
    names.every((name) => Object.hasOwn(membersB, name) && isSame(membersA[name], membersB[name], countSteps))
  );
}

/** Canonical JSON of a value, independent of the order of members. */
export function valueText(value: unknown, countSteps: CountSteps): string {
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
  countSteps(Math.ceil(text.length / CHARACTERS_OF_A_LOOK));
  return text;
}

/**
 * Reads a size limit such as `minItems`.
 * @throws UnsupportedSchemaError if it is not a non-negative integer.
 */
export function countOf(schema: JsonSchema, keyword: string, fallback: number): number {
  const value = schema[keyword];
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new UnsupportedSchemaError(`'${keyword}' is not a non-negative integer`);
}

/** A value as an object; an empty object for other values. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** A value as an array: itself, or an array with the value. */
export function list(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
