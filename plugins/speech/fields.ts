/** Fields of a request before their rules are applied, and what a caller reads of a broken rule. */

import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../src/contract/core/error.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';

/** How the texts of a form become other values; each leaves as it is what it cannot read. */
export type FormReaders = ReadonlyMap<string, (value: unknown) => unknown>;

const NONE: FormReaders = new Map();

/** Own fields that have a value; null means absent. */
export function presentFields(body: object | null, readers: FormReaders = NONE): Record<string, unknown> {
  const present = Object.entries(body ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, readers.get(name)?.(value) ?? value]));
}

/** The number that a text stands for. */
export function numberOf(value: unknown): unknown {
  const isDecimal = typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value);
  return isDecimal ? Number(value) : value;
}

/** The truth that a text stands for. */
export function booleanOf(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

/**
 * @param choices fields that allow a few values only.
 * @throws ServiceError `invalid_request` for the first field that breaks a rule.
 */
export function requireFields(
  fields: Readonly<Record<string, unknown>>,
  checker: TypeCheck<TSchema>,
  choices: ReadonlySet<string>,
): void {
  const fault = firstIssue(checker, fields);
  if (fault === undefined) return;
  const { field, problem, code } = fault;
  const isChoice = choices.has(field.split('.', 1)[0] ?? '');
  const shown = isChoice && code === 'invalid_value' ? 'unsupported_value' : code;
  throw invalidRequest(`'${field}' ${problem}.`, field, shown);
}
