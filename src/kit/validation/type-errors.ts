import { type TSchema, Type } from '@sinclair/typebox';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import type { ErrorCode } from '../../contract/core/error.ts';
import { similarName } from '../../contract/core/nearest-name.ts';

/** A validation issue of a value, for the author of the value. Never contains the value itself. */
export interface ValidationIssue {
  /** Dotted name of the field (`audio.input.format`, `items.0`); empty for the whole value. */
  readonly field: string;
  /** Continues "`field` …", e.g. "must be at least 1". */
  readonly problem: string;
  readonly code: ErrorCode;
}

const { ObjectAdditionalProperties, ObjectRequiredProperty, StringMaxLength } = ValueErrorType;

/**
 * Converts a TypeBox error to an issue that names the field and the allowed values. For a union it lists what
 * all branches allow.
 */
export function toValidationIssue(error: ValueError): ValidationIssue {
  const field = dotted(error.path);
  switch (error.type) {
    case ObjectAdditionalProperties:
      return {
        field,
        problem: unknownProblem(field, siblingsOf(error.schema)),
        code: 'unknown_parameter',
      };
    case ObjectRequiredProperty:
      return {
        field,
        problem:
          describe(error.schema) === UNKNOWN_FORM
            ? 'is required'
            : `is required and ${describeConstraint(error.schema)}`,
        code: 'missing_required_parameter',
      };
    case StringMaxLength:
      return { field, problem: describeConstraint(error.schema), code: 'string_above_max_length' };
    default:
      return {
        field,
        problem: describeConstraint(error.schema),
        code: isOfType(error.schema, error.value) ? 'invalid_value' : 'invalid_type',
      };
  }
}

/**
 * Describes an unknown field, with the field that was probably meant.
 * @param allowed all field names.
 */
export function unknownProblem(
  field: string,
  allowed: readonly string[],
  meant = similarName(field.split('.').at(-1) ?? '', allowed),
): string {
  const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`;
  return `is unknown; allowed: ${listed(allowed)}${hint}`;
}

/** Description of a schema without known rules. */
const UNKNOWN_FORM = 'of another form';

/** Describes all rules of a schema in one phrase: "must be …". */
export function describeConstraint(schema: TSchema): string {
  return `must be ${describe(schema)}`;
}

function describe(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) {
    const branches = branchesOf(schema);
    const literals = branches.every((branch) => branch.const !== undefined);
    const phrases = [...new Set(branches.map(describe))];
    return literals ? `one of ${phrases.join(', ')}` : phrases.join(' or ');
  }
  switch (schema.type) {
    case 'string':
      return `a string${lengths(schema)}${schema.pattern ? ` of the form ${schema.pattern}` : ''}`;
    case 'integer':
      return `an integer${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${entries(schema)}${schema.items ? `, each ${describe(schema.items)}` : ''}`;
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return UNKNOWN_FORM;
  }
}

function range({ minimum, maximum }: TSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

function lengths({ minLength, maxLength }: TSchema): string {
  if (minLength && maxLength !== undefined) return ` of ${minLength} to ${maxLength} characters`;
  if (maxLength !== undefined) return ` of at most ${maxLength} characters`;
  return minLength ? (minLength === 1 ? ' that is not empty' : ` of at least ${minLength} characters`) : '';
}

function entries({ minItems, maxItems }: TSchema): string {
  if (minItems && maxItems !== undefined) return ` of ${minItems} to ${maxItems} entries`;
  if (maxItems !== undefined) return ` of at most ${maxItems} entries`;
  return minItems ? (minItems === 1 ? ' that is not empty' : ` of at least ${minItems} entries`) : '';
}

function isOfType(schema: TSchema, value: unknown): boolean {
  return branchesOf(schema).some(({ type, const: literal }) => {
    const wanted = literal === undefined ? type : typeof literal;
    if (wanted === 'array') return Array.isArray(value);
    if (wanted === 'integer') return typeof value === 'number';
    return typeof value === wanted && value !== null && !Array.isArray(value);
  });
}

/** String formats that Elysia adds for type coercion of numbers and booleans; not shown to users. */
const COERCED: ReadonlySet<unknown> = new Set(['integer', 'numeric', 'boolean']);

/**
 * Returns the branches of a schema, including those of nested unions; a schema without a union is its only
 * branch.
 */
export function branchesOf(schema: TSchema): readonly TSchema[] {
  const branches: TSchema[] = schema.anyOf?.flatMap(branchesOf) ?? [schema];
  return branches.filter((branch) => branch.type !== 'string' || !COERCED.has(branch.format));
}

function siblingsOf(schema: TSchema): string[] {
  return Object.keys(schema.properties ?? {});
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}

/** Maximum length of a field name in a message, because field names come from callers. */
const MAX_FIELD_CHARACTERS = 100;

/** Converts a JSON pointer to the dotted form of error bodies. */
function dotted(pointer: string): string {
  return pointer
    .slice(0, MAX_FIELD_CHARACTERS)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

/** A string enum; errors list all values. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  options: { default?: string; description?: string } = {},
) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as import('@sinclair/typebox').TUnsafe<Values[number]>;
}
