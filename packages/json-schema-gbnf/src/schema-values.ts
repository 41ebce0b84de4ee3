/** Access to the keywords and values of a JSON Schema. */

import { UnsupportedPatternError } from './pattern-syntax.ts';

/** A JSON Schema that is an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** An unsupported part of a schema; the message names the keyword. */
export class UnsupportedSchemaError extends Error {
  override readonly name = 'UnsupportedSchemaError';
}

/** Runs a function on a pattern. @throws UnsupportedSchemaError for an unsupported pattern. */
export function supported<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UnsupportedPatternError)) throw error;
    throw new UnsupportedSchemaError(`'pattern' with ${error.message}`);
  }
}

/** Counts work; throws when the limit is exceeded. */
export type CountSteps = (count: number) => void;

/** Characters of a value that count as one step. */
const CHARACTERS_OF_A_LOOK = 16;

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
