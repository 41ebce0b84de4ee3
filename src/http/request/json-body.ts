import type { TObject } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { isRecord } from '../../kit/validation/is-record.ts';
import { MAX_JSON_LEVELS } from '../../kit/validation/json-limits.ts';
import { isNestedWithin } from '../../kit/validation/nesting.ts';
import { type FieldOptions, presentFields, validFields } from './fields.ts';
import { isForm } from './form-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface JsonBodyOptions extends FieldOptions {
  /**
   * Called before the validation with the fields that have a value. Returns the fields to validate.
   * @throws ServiceError for fields that are refused.
   */
  readonly prepare?: (present: Fields) => Fields;
}

/**
 * Validates a JSON body by the rules of `fields.ts`.
 * @returns the known fields that have a value.
 * @throws ServiceError 415 for a form; 400 for a body that is not a JSON object or is nested too deeply, and for the first
 *   invalid field.
 */
export function checkedBody<T>(
  body: unknown,
  checker: TypeCheck<TObject>,
  { prepare = (present) => present, ...options }: JsonBodyOptions = {},
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
  return validFields<T>(prepare(presentFields(body, checker.Schema())), checker, options);
}
