/** The fields of request bodies: the same rules for JSON and forms on every endpoint that clients of other servers call. */

import type { TObject, TSchema } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { invalidRequest, type ServiceError } from '../../contract/core/error.ts';
import { misspeltName } from '../../contract/core/nearest-name.ts';
import { isRecord } from '../../kit/validation/is-record.ts';
import { unknownProblem } from '../../kit/validation/type-errors.ts';
import { issuesOf } from '../../kit/validation/value-errors.ts';
import { isForm, shortened } from './form-fields.ts';

/** Unknown fields that are compared with the known ones; more are ignored, because each comparison takes about 10 µs. */
const MAX_COMPARED = 100;

/**
 * Fields of OpenAI-compatible clients and servers that resemble a field of this API but are not a misspelling of it. They are
 * ignored like all other unknown fields.
 */
const OTHER_FIELDS: ReadonlySet<string> = new Set([
  ...['instruction', 'min_new_tokens', 'min_output_tokens', 'min_tokens', 'seed', 'speed', 'top_a', 'top_k'],
]);

export interface FieldOptions {
  /** Enum fields; another value of them has the error code `unsupported_value`. */
  readonly choices?: ReadonlySet<string>;
  /** Maps a dotted field name to the name in error messages. */
  readonly shown?: (field: string) => string;
}

/**
 * The fields of a body that have a value. Null and, for optional fields, blank text mean "not set": many clients send every
 * field. Numbers and booleans of a form are parsed; text that cannot be parsed is left to the validation.
 * @param body a JSON object, or the fields of a form.
 */
export function presentFields(
  body: object | null,
  schema: TObject,
  fromForm = body !== null && isForm(body),
): Record<string, unknown> {
  const required = new Set(schema.required);
  const present = Object.entries(body ?? {}).filter(
    ([name, value]) => value !== null && (required.has(name) || !isBlank(value, fromForm)),
  );
  if (!fromForm) return Object.fromEntries(present);
  return Object.fromEntries(
    present.map(([name, value]) => [name, formValue(value, propertyOf(schema, name))]),
  );
}

/**
 * Validates fields. Unknown fields are ignored, because clients send fields of other servers, except for misspellings of a known
 * field that is absent and files, whose content would be lost.
 * @param present the result of {@link presentFields}, which may have lost refused fields.
 * @returns the known fields.
 * @throws ServiceError `invalid_request` for the first field that violates a rule.
 */
export function validFields<T>(
  present: Readonly<Record<string, unknown>>,
  checker: TypeCheck<TObject>,
  options: FieldOptions = {},
): T {
  const { fields, errors } = checkedFields<T>(present, checker, options);
  if (errors[0] !== undefined) throw errors[0];
  return fields as T;
}

export interface CheckedFields<T> {
  /** The known fields that violate no rule. */
  readonly fields: Partial<T>;
  /** One error for each other field, in the order of the schema. Errors of unknown fields are first. */
  readonly errors: readonly ServiceError[];
}

/** Validates fields as {@link validFields}, for a message that names every invalid field of a request. */
export function checkedFields<T>(
  present: Readonly<Record<string, unknown>>,
  checker: TypeCheck<TObject>,
  { choices, shown = (field) => field }: FieldOptions = {},
): CheckedFields<T> {
  const { known, errors } = knownFields(present, checker.Schema());
  const invalid = new Set<string>();
  for (const issue of issuesOf(checker, known)) {
    const [name = ''] = issue.field.split('.', 1);
    if (invalid.has(name)) continue;
    invalid.add(name);
    const field = shown(issue.field);
    const isChoice = choices?.has(name) && issue.code === 'invalid_value';
    errors.push(
      invalidRequest(`'${field}' ${issue.problem}.`, field, isChoice ? 'unsupported_value' : issue.code),
    );
  }
  const valid = Object.entries(known).filter(([name]) => !invalid.has(name));
  return { fields: Object.fromEntries(valid) as Partial<T>, errors };
}

function knownFields(present: Readonly<Record<string, unknown>>, schema: TObject) {
  const errors: ServiceError[] = [];
  const names = Object.keys(schema.properties);
  const absent = names.filter((name) => !Object.hasOwn(present, name));
  const known: [string, unknown][] = [];
  let compared = 0;
  for (const [name, value] of Object.entries(present)) {
    if (Object.hasOwn(schema.properties, name)) {
      known.push([name, value]);
      continue;
    }
    if (isUpload(value)) {
      errors.push(unknownField(name, unknownProblem(name, names)));
      continue;
    }
    compared += 1;
    if (compared > MAX_COMPARED || OTHER_FIELDS.has(name)) continue;
    const meant = misspeltName(name, absent);
    if (meant !== undefined) errors.push(unknownField(name, unknownProblem(name, names, meant)));
  }
  return { known: Object.fromEntries(known), errors };
}

function unknownField(name: string, problem: string) {
  const field = shortened(name);
  return invalidRequest(`'${field}' ${problem}.`, field, 'unknown_parameter');
}

/** Forms have text, uploads, lists and groups; the objects of JSON are groups as well. */
function isUpload(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isUpload);
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

function isBlank(value: unknown, fromForm: boolean): boolean {
  if (typeof value === 'string') return value.trim() === '';
  // A list or group of a form whose entries are all blank was left empty.
  if (!fromForm || !isGroup(value)) return false;
  return Object.values(value).every((entry) => isBlank(entry, fromForm));
}

/** Whether a value of a form is a list or a group of fields, rather than an upload. */
function isGroup(value: unknown): value is object {
  return Array.isArray(value) || (isRecord(value) && isForm(value));
}

function propertyOf(schema: TSchema, name: string): TSchema | undefined {
  const properties: Readonly<Record<string, TSchema>> = schema.properties ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function formValue(value: unknown, schema: TSchema | undefined): unknown {
  switch (schema?.type) {
    case 'integer':
      return typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value) ? Number(value) : value;
    case 'number':
      return numberOf(value);
    case 'boolean':
      return booleanOf(value);
    case 'object':
      if (!isGroup(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, formValue(inner, propertyOf(schema, name))]),
      );
    default:
      return value;
  }
}

/** Parses a decimal number. */
function numberOf(value: unknown): unknown {
  const isDecimal = typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value);
  return isDecimal ? Number(value) : value;
}

/** Parses a boolean in the notations of JSON, Python and HTML forms. */
function booleanOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : value;
}
