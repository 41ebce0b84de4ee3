/** Two JSON Schemas as one that allows what both allow. */

import type { JsonSchema } from '../../contract/text.ts';

/** What of a schema cannot be had; the message names the keyword. */
export class SchemaFault extends Error {
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

/** @throws SchemaFault when only a program that searches could tell what both allow. */
export function mergeSchemas(a: JsonSchema, b: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const other = merged[keyword];
    merged[keyword] =
      other === undefined || ANNOTATIONS.has(keyword) ? value : mergedValue(keyword, other, value);
  }
  for (const [closed, open] of [
    [a, b],
    [b, a],
  ] as const) {
    // A closed object knows only the properties beside it.
    const { additionalProperties = true } = closed;
    if (additionalProperties === true) continue;
    const known = Object.keys(record(closed.properties));
    if (Object.keys(record(open.properties)).some((name) => !known.includes(name))) {
      throw new SchemaFault(`'additionalProperties' beside properties of another part`);
    }
  }
  return merged;
}

function mergedValue(keyword: string, a: unknown, b: unknown): unknown {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const limit = LIMITS[keyword];
  if (limit !== undefined && typeof a === 'number' && typeof b === 'number') return limit(a, b);
  switch (keyword) {
    case 'properties':
      return mergedProperties(record(a), record(b));
    case 'required':
      return [...new Set([...list(a), ...list(b)])];
    case 'type':
      return sharedTypes(list(a), list(b));
    case 'enum': {
      const texts = new Set(list(b).map((value) => JSON.stringify(value)));
      return list(a).filter((value) => texts.has(JSON.stringify(value)));
    }
    default:
      throw new SchemaFault(`two different '${keyword}'`);
  }
}

function mergedProperties(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
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

/**
 * A limit of a number of things.
 * @throws SchemaFault for one that is no such number.
 */
export function countOf(schema: JsonSchema, keyword: string, fallback: number): number {
  const value = schema[keyword];
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new SchemaFault(`a '${keyword}' that is no number of things`);
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
