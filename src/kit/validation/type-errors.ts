import { type TSchema, Type } from '@sinclair/typebox';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import type { ErrorCode } from '../../contract/core/error.ts';

/** What is wrong with a value, in words for the person who wrote it. Never holds the value itself. */
export interface ValidationIssue {
  /** Dotted name of the field (`audio.input.format`, `items.0`); empty for the whole value. */
  readonly field: string;
  /** Continues "`field` …", for instance "must be at least 1". */
  readonly problem: string;
  readonly code: ErrorCode;
}

const { ObjectAdditionalProperties, ObjectRequiredProperty, StringMaxLength } = ValueErrorType;

/**
 * Turns a TypeBox error into one that names the field and what is allowed there.
 * A union reports what all its branches allow, because the reader does not know of branches.
 */
export function toValidationIssue(error: ValueError): ValidationIssue {
  const field = dotted(error.path);
  switch (error.type) {
    case ObjectAdditionalProperties:
      return {
        field,
        problem: `is not known; allowed here: ${listed(siblingsOf(error.schema))}`,
        code: 'unknown_parameter',
      };
    case ObjectRequiredProperty:
      return {
        field,
        problem:
          describe(error.schema) === UNSAID ? 'is required' : `is required and ${describeConstraint(error.schema)}`,
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

/** Of a schema whose rules are somebody else's. */
const UNSAID = 'of another form';

/** "must be …": every rule of a schema in one phrase. */
export function describeConstraint(schema: TSchema): string {
  return `must be ${describe(schema)}`;
}

function describe(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) {
    const branches = branchesOf(schema);
    const literals = branches.every((branch) => branch.const !== undefined);
    const words = [...new Set(branches.map(describe))];
    return literals ? `one of ${words.join(', ')}` : words.join(' or ');
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
      return UNSAID;
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

/** Elysia lets numbers arrive as text, by a branch of this form; it is not worth a word to the reader. */
const COERCED: ReadonlySet<unknown> = new Set(['integer', 'numeric', 'boolean']);

/** The branches of a schema, those of unions inside unions too; a schema that is no union is its own. */
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

/** Characters of a field's name that a message repeats: names come from callers. */
const MAX_FIELD_CHARACTERS = 100;

/** JSON pointer to the dotted form that error bodies use. */
function dotted(pointer: string): string {
  return pointer
    .slice(0, MAX_FIELD_CHARACTERS)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

/** A string that must be one of `values`; errors name them all. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  options: { default?: string; description?: string } = {},
) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as import('@sinclair/typebox').TUnsafe<Values[number]>;
}
