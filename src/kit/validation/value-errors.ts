/** Human-readable schema validation errors. */

import { type TLiteral, type TSchema, Type } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { Value } from '@sinclair/typebox/value';
import { isRecord } from './is-record.ts';
import { branchesOf, toValidationIssue, type ValidationIssue } from './type-errors.ts';

/**
 * Returns the first validation issue of a value, or undefined if it is valid. Valid values are checked
 * quickly.
 */
export function firstIssue(checker: TypeCheck<TSchema>, value: unknown): ValidationIssue | undefined {
  return issuesOf(checker, value).next().value ?? undefined;
}

/**
 * Yields the validation issues of a value, none if it is valid. A field can have several. Valid values are checked quickly.
 */
export function* issuesOf(
  checker: TypeCheck<TSchema>,
  value: unknown,
): Generator<ValidationIssue, void, undefined> {
  if (checker.Check(value)) return;
  for (const error of checker.Errors(value)) yield toValidationIssue(innermost(error));
}

/**
 * Fields that distinguish the branches of a union: items by type and role, parts by type, responses by
 * status.
 */
const DISCRIMINATORS = ['type', 'role', 'status'];

/**
 * TypeBox reports an error of the whole union. Returns the error of the branch that the value was meant for,
 * which is the one whose literals match; if none matches, an error that lists the possible literals.
 */
function innermost(error: ValueError): ValueError {
  const { value } = error;
  if (error.type !== ValueErrorType.Union) return error;
  if (Array.isArray(value)) return listBranchError(error);
  if (!isRecord(value)) return error;
  let branches = branchesOf(error.schema).filter((branch) => branch.type === 'object');
  if (branches.length === 0) return error;
  for (const name of DISCRIMINATORS) {
    const matching = branches.filter((branch) => matchesLiteral(branch, name, value));
    const known = (branch: TSchema) => Object.hasOwn(branch.properties, name);
    const unknownValue = Object.hasOwn(value, name) && branches.some(known) && !matching.some(known);
    if (matching.length === 0 || unknownValue) return noBranchError(error, branches, name, value);
    branches = matching;
  }
  return branchError(error, branches[0]);
}

/** A list matches only the branch that is an array. */
function listBranchError(error: ValueError): ValueError {
  const lists = branchesOf(error.schema).filter((branch) => branch.type === 'array');
  return lists.length === 1 ? branchError(error, lists[0]) : error;
}

/** Returns the error inside a branch. */
function branchError(error: ValueError, branch: TSchema | undefined): ValueError {
  const inner = branch === undefined ? undefined : Value.Errors(branch, error.value).First();
  return inner === undefined ? error : innermost({ ...inner, path: `${error.path}${inner.path}` });
}

function matchesLiteral(branch: TSchema, name: string, value: Readonly<Record<string, unknown>>): boolean {
  const literals = literalsOf(branch, name);
  if (literals.length === 0) return true;
  if (!Object.hasOwn(value, name)) return !branch.required.includes(name);
  return literals.some((literal) => literal.const === value[name]);
}

/**
 * Returns the literals that a field of a branch allows; empty if the field allows other values or does not
 * exist.
 */
function literalsOf(branch: TSchema, name: string): TLiteral[] {
  const field: TSchema | undefined = branch.properties[name];
  const choices: TSchema[] = field === undefined ? [] : (field.anyOf ?? [field]);
  return choices.filter((choice): choice is TLiteral => choice.const !== undefined);
}

function noBranchError(
  error: ValueError,
  branches: readonly TSchema[],
  name: string,
  value: Readonly<Record<string, unknown>>,
): ValueError {
  const absent = !Object.hasOwn(value, name);
  return {
    ...error,
    type: absent ? ValueErrorType.ObjectRequiredProperty : ValueErrorType.Union,
    schema: Type.Union(branches.flatMap((branch) => literalsOf(branch, name))),
    path: `${error.path}/${name}`,
    value: value[name],
  };
}
