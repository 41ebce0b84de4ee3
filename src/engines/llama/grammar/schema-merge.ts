/** Two JSON Schemas as one that allows what both allow. */

import type { JsonSchema } from '../../../contract/engines/text.ts';

/** What of a schema cannot be had; the message names the keyword. */
export class ValidationIssue extends Error {
  override readonly name = 'SchemaFault';
}

/** Keywords that say something about the schema and nothing about the value. */
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

/** Counts what is looked at; throws when it is too much. */
export type Look = (count: number) => void;

/** Characters of a value that are written in the time of a look. */
const CHARACTERS_OF_A_LOOK = 16;

/** @throws ValidationIssue when only a program that searches could tell what both allow; what `look` throws. */
export function mergeSchemas(a: JsonSchema, b: JsonSchema, look: Look): JsonSchema {
  look(Object.keys(a).length + Object.keys(b).length);
  const merged: Record<string, unknown> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const other = merged[keyword];
    merged[keyword] =
      other === undefined || ANNOTATIONS.has(keyword) ? value : mergedValue(keyword, other, value, look);
  }
  for (const [closed, open] of [
    [a, b],
    [b, a],
  ] as const) {
    // A closed object knows only the properties beside it.
    const { additionalProperties = true } = closed;
    if (additionalProperties === true) continue;
    const known = record(closed.properties);
    const names = Object.keys(record(open.properties));
    look(names.length);
    if (names.some((name) => !Object.hasOwn(known, name))) {
      throw new ValidationIssue(`'additionalProperties' beside properties of another part`);
    }
  }
  return merged;
}

function mergedValue(keyword: string, a: unknown, b: unknown, look: Look): unknown {
  if (isSame(a, b, look)) return a;
  const limit = LIMITS[keyword];
  if (limit !== undefined && typeof a === 'number' && typeof b === 'number') return limit(a, b);
  switch (keyword) {
    case 'properties':
      return mergedProperties(record(a), record(b), look);
    case 'required':
      look(list(a).length + list(b).length);
      return [...new Set([...list(a), ...list(b)])];
    case 'type':
      look(list(a).length * list(b).length);
      return sharedTypes(list(a), list(b));
    case 'enum': {
      const texts = new Set(list(b).map((value) => valueText(value, look)));
      return list(a).filter((value) => texts.has(valueText(value, look)));
    }
    default:
      throw new ValidationIssue(`two different '${keyword}'`);
  }
}

function mergedProperties(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  look: Look,
): Record<string, unknown> {
  look(Object.keys(a).length + Object.keys(b).length);
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

/** Whether two values are the same, whatever the order of their members. */
function isSame(a: unknown, b: unknown, look: Look): boolean {
  look(1);
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, i) => isSame(each, b[i], look));
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [membersA, membersB] = [record(a), record(b)];
  const names = Object.keys(membersA);
  return (
    names.length === Object.keys(membersB).length &&
    names.every((name) => Object.hasOwn(membersB, name) && isSame(membersA[name], membersB[name], look))
  );
}

/** A value as JSON: that of the same value is the same, whatever the order of its members. */
export function valueText(value: unknown, look: Look): string {
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
  look(Math.ceil(text.length / CHARACTERS_OF_A_LOOK));
  return text;
}

/**
 * A limit of a number of things.
 * @throws ValidationIssue for one that is no such number.
 */
export function countOf(schema: JsonSchema, keyword: string, fallback: number): number {
  const value = schema[keyword];
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new ValidationIssue(`a '${keyword}' that is no number of things`);
}

/** A value as an object; nothing when it is none. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** A value as a list: itself, or alone. */
export function list(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
