/** Normalizes request fields before validation, and reports the first violation. */

import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../src/contract/core/error.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';

/** Converters of form strings, by field. A converter returns a value that it cannot parse unchanged. */
export type FormReaders = ReadonlyMap<string, (value: unknown) => unknown>;

const NONE: FormReaders = new Map();

/** Own fields with a value, converted; null is treated as absent. */
export function presentFields(body: object | null, readers: FormReaders = NONE): Record<string, unknown> {
  const present = Object.entries(body ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, readers.get(name)?.(value) ?? value]));
}

/** Parses a decimal number. */
export function numberOf(value: unknown): unknown {
  const isDecimal = typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value);
  return isDecimal ? Number(value) : value;
}

/** Parses `true` and `false`. */
export function booleanOf(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

/**
 * Validates fields against a schema.
 * @param choices names of the enum fields.
 * @throws ServiceError `invalid_request` for the first field that violates a rule.
 */
export function requireFields(
  fields: Readonly<Record<string, unknown>>,
  checker: TypeCheck<TSchema>,
  choices: ReadonlySet<string>,
): void {
  const issue = firstIssue(checker, fields);
  if (issue === undefined) return;
  const { field, problem, code } = issue;
  const isChoice = choices.has(field.split('.', 1)[0] ?? '');
  const wireCode = isChoice && code === 'invalid_value' ? 'unsupported_value' : code;
  throw invalidRequest(`'${field}' ${problem}.`, field, wireCode);
}
