import { type ErrorCode, invalidRequest, type ServiceError } from '../../contract/core/error.ts';
import { addressOf } from '../transport/address.ts';

/**
 * The named parameters of a query string. Other parameters are ignored, because clients add their own, such as `api-version`.
 * @throws ServiceError 400 if a parameter is present more than once; the framework would use the last value.
 */
export function readQuery<Name extends string>(
  request: Request,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const { searchParams } = addressOf(request);
  const query: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = parameterOf(searchParams, name);
    if (value !== undefined) query[name] = value;
  }
  return query;
}

/**
 * One parameter of a query; other parameters are ignored.
 * @throws ServiceError 400 if it is present more than once.
 */
export function parameterOf(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw givenTwice(name);
  return value;
}

function givenTwice(name: string): ServiceError {
  return invalidRequest(`Duplicate query parameter '${name}'.`, name, 'invalid_value');
}

/** Range and default of an integer query parameter. */
export interface IntegerRule {
  readonly minimum: number;
  readonly maximum: number;
  /** Default value. */
  readonly fallback: number;
}

/** An integer from a query, or `fallback` when it is absent. @throws ServiceError 400 out of range. */
export function integerIn(
  name: string,
  text: string | undefined,
  { minimum, maximum, fallback }: IntegerRule,
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw invalidRequest(`'${name}' must be an integer from ${minimum} to ${maximum}.`, name, 'invalid_value');
}

/** One of `choices` from a query, or undefined when it is absent. @throws ServiceError 400 for any other value. */
export function choiceIn<const Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly Choice[],
  code: ErrorCode = 'invalid_value',
): Choice | undefined {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined || text === undefined) return choice;
  throw invalidRequest(`'${name}' must be one of ${choices.join(', ')}.`, name, code);
}

/** `true` or `false` from a query, or undefined when it is absent. @throws ServiceError 400 for any other value. */
export function booleanIn(name: string, text: string | undefined): boolean | undefined {
  const choice = choiceIn(name, text, ['true', 'false']);
  return choice === undefined ? undefined : choice === 'true';
}

/** Pagination parameters of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of the last entry of the previous page; undefined for the first page. */
  readonly after: string | undefined;
}

/**
 * Parses the pagination parameters of a list; all lists use this function. An empty `after` selects the first page.
 * @throws ServiceError 400 with the name of the invalid parameter.
 */
export function pageIn(
  { limit, order, after }: { readonly limit?: string; readonly order?: string; readonly after?: string },
  limits: IntegerRule,
): PageQuery {
  return {
    limit: integerIn('limit', limit, limits),
    order: choiceIn('order', order, ['asc', 'desc']) ?? 'desc',
    after: after === '' ? undefined : after,
  };
}
