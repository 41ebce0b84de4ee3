/** Bodies of the text family: JSON objects, checked against a schema, in which null means absent. */

import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../src/contract/error.ts';
import { isRecord, valueFault } from '../../src/kit/value-fault.ts';

/**
 * The fields of a body that have a value.
 * @param shown how a dotted field is named to the caller.
 * @throws ServiceError for a body that is no JSON object, and for the first field that breaks a rule.
 */
export function checkedBody<T>(
  body: unknown,
  checker: TypeCheck<TSchema>,
  shown = (field: string) => field,
): T {
  if (!isRecord(body)) {
    throw invalidRequest("The request body must be a JSON object (content type 'application/json').");
  }
  const fields = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const fault = valueFault(checker, fields);
  if (fault === undefined) return fields as T;
  const field = shown(fault.field);
  throw invalidRequest(`'${field}' ${fault.problem}.`, field, fault.code);
}

/** An answer whose body is this JSON text. */
export function jsonAnswer(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

/** Refuses fields that this service has not, when they are there. */
export function refuseFields(
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[],
  why: string,
): void {
  const name = names.find((each) => Object.hasOwn(fields, each));
  if (name !== undefined) throw invalidRequest(`'${name}' ${why}.`, name, 'unsupported_parameter');
}
