/** What is wrong with a value, told so that its author can mend it. */

import { type TLiteral, type TSchema, Type } from '@sinclair/typebox';
import type { TypeCheck } from '@sinclair/typebox/compiler';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { Value } from '@sinclair/typebox/value';
import { isRecord } from './is-record.ts';
import { branchesOf, type ValidationIssue, toValidationIssue } from './type-errors.ts';

/** The first fault of a value, or undefined. Costs little when there is none. */
export function firstIssue(checker: TypeCheck<TSchema>, value: unknown): ValidationIssue | undefined {
  if (checker.Check(value)) return undefined;
  const error = checker.Errors(value).First();
  return error === undefined ? undefined : toValidationIssue(innermost(error));
}

/** Fields that tell the branches of a union apart: items by type and role, parts by type, responses by status. */
const TELLING = ['type', 'role', 'status'];

/**
 * A union fails as a whole. Its author meant one branch, the one whose literals agree, and learns what is wrong
 * with that one; when none agrees, which literals there are.
 */
function innermost(error: ValueError): ValueError {
  const { value } = error;
  if (error.type !== ValueErrorType.Union) return error;
  if (Array.isArray(value)) return ofList(error);
  if (!isRecord(value)) return error;
  let branches = branchesOf(error.schema).filter((branch) => branch.type === 'object');
  if (branches.length === 0) return error;
  for (const name of TELLING) {
    const agreeing = branches.filter((branch) => agrees(branch, name, value));
    const known = (branch: TSchema) => Object.hasOwn(branch.properties, name);
    const foreign = Object.hasOwn(value, name) && branches.some(known) && !agreeing.some(known);
    if (agreeing.length === 0 || foreign) return ofNoBranch(error, branches, name, value);
    branches = agreeing;
  }
  return inside(error, branches[0]);
}

/** A list can only have been meant as the branch that is one. */
function ofList(error: ValueError): ValueError {
  const lists = branchesOf(error.schema).filter((branch) => branch.type === 'array');
  return lists.length === 1 ? inside(error, lists[0]) : error;
}

/** What is wrong if this branch was meant. */
function inside(error: ValueError, branch: TSchema | undefined): ValueError {
  const inner = branch === undefined ? undefined : Value.Errors(branch, error.value).First();
  return inner === undefined ? error : innermost({ ...inner, path: `${error.path}${inner.path}` });
}

function agrees(branch: TSchema, name: string, value: Readonly<Record<string, unknown>>): boolean {
  const literals = literalsOf(branch, name);
  if (literals.length === 0) return true;
  if (!Object.hasOwn(value, name)) return !branch.required.includes(name);
  return literals.some((literal) => literal.const === value[name]);
}

/** The literals that a field of a branch may have; none when the field may have others, or is not there. */
function literalsOf(branch: TSchema, name: string): TLiteral[] {
  const field: TSchema | undefined = branch.properties[name];
  const choices: TSchema[] = field === undefined ? [] : (field.anyOf ?? [field]);
  return choices.filter((choice): choice is TLiteral => choice.const !== undefined);
}

function ofNoBranch(
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
