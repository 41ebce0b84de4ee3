import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../contract/error.ts';
import { isRecord, valueFault } from '../kit/value-fault.ts';

/**
 * The fields of a JSON body that have a value: null means absent.
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
