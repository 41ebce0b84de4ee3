import type { TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { isRecord } from '../../kit/validation/is-record.ts';
import { MAX_JSON_LEVELS } from '../../kit/validation/json-limits.ts';
import { isNestedWithin } from '../../kit/validation/nesting.ts';
import { firstIssue } from '../../kit/validation/value-errors.ts';
import { isForm } from './form-fields.ts';

/**
 * Validates a JSON body. Null fields are treated as absent.
 * @param shown maps a dotted field name to the name in error messages.
 * @returns the fields that are not null.
 * @throws ServiceError 415 for a form; 400 for a body that is not a JSON object or is nested too deeply, and for the first
 *   invalid field.
 */
export function checkedBody<T>(
  body: unknown,
  checker: TypeCheck<TSchema>,
  shown = (field: string) => field,
): T {
  if (!isRecord(body)) {
    throw invalidRequest("The request body must be a JSON object (content type 'application/json').");
  }
  if (isForm(body)) {
    const message = "The content type of the request body must be 'application/json'.";
    throw new ServiceError('unsupported_media_type', message);
  }
  // Deeper values would overflow the stack when they are serialized again.
  if (!isNestedWithin(body, MAX_JSON_LEVELS)) {
    const message = `The request body can have at most ${MAX_JSON_LEVELS} levels of nesting.`;
    throw invalidRequest(message, undefined, 'invalid_value');
  }
  const fields = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  const fault = firstIssue(checker, fields);
  if (fault === undefined) return fields as T;
  const field = shown(fault.field);
  throw invalidRequest(`'${field}' ${fault.problem}.`, field, fault.code);
}
