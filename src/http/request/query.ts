import { type ErrorCode, invalidRequest, type ServiceError } from '../../contract/core/error.ts';
import { addressOf } from '../transport/address.ts';

/**
 * The query of a request. The framework would use the last of two values and drop unknown names, so that a typing error
 * would have no effect and no message.
 * @param from a request, or what is left of its query.
 * @param names the parameters that are allowed here.
 * @throws ServiceError 400 for a name that is not allowed or given twice.
 */
export function readQuery<Name extends string>(
  from: Request | URLSearchParams,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const query: { [N in Name]?: string } = {};
  const given = from instanceof URLSearchParams ? from : addressOf(from).searchParams;
  for (const [key, value] of given) {
    const name = names.find((candidate) => candidate === key);
    if (name === undefined) {
      const shown = key.slice(0, 100);
      const allowed = names.length === 0 ? 'none' : names.join(', ');
      const message = `The query parameter '${shown}' is not known; allowed here: ${allowed}.`;
      throw invalidRequest(message, shown, 'unknown_parameter');
    }
    if (query[name] !== undefined) throw givenTwice(name);
    query[name] = value;
  }
  return query;
}

/**
 * One parameter of a query in which other parameters are ignored.
 * @throws ServiceError 400 when it is given more than once.
 */
export function parameterOf(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length > 0) throw givenTwice(name);
  return value;
}

function givenTwice(name: string): ServiceError {
  return invalidRequest(`The query parameter '${name}' is given more than once.`, name, 'invalid_value');
}

/** The allowed integers of a query parameter. */
export interface IntegerRule {
  readonly minimum: number;
  readonly maximum: number;
  /** The value when the parameter is absent. */
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

/** Which page of a list a query asks for. */
export interface PageQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of the last entry of the previous page; undefined for the first page. */
  readonly after: string | undefined;
}

/**
 * The page that a query of a list asks for. Every list uses this function. An empty `after` means the first page.
 * @throws ServiceError 400 that names the parameter.
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
