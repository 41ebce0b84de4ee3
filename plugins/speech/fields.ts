/** Fields of a request before their rules are applied, and what a caller reads of a broken rule. */

import type { ValueError } from '@sinclair/typebox/errors';
import { invalidRequest, type ServiceError } from '../../src/contract/error.ts';
import { schemaFault } from '../../src/kit/schema-error.ts';

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
 * The refusal of a field.
 * @param choices fields that allow a few values only.
 */
export function fieldRefusal(error: ValueError, choices: ReadonlySet<string>): ServiceError {
  const { field, problem, code } = schemaFault(error);
  const isChoice = choices.has(field.split('.', 1)[0] ?? '');
  const shown = isChoice && code === 'invalid_value' ? 'unsupported_value' : code;
  return invalidRequest(`'${field}' ${problem}.`, field, shown);
}
