import { invalidRequest } from '../contract/error.ts';
import { addressOf } from './address.ts';

/**
 * The query of a request, by hand: the framework would take the last of two values and drop names it
 * does not know, and neither tells a caller of a typing error.
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
    if (query[name] !== undefined) {
      throw invalidRequest(`The query parameter '${name}' is given more than once.`, name, 'invalid_value');
    }
    query[name] = value;
  }
  return query;
}

/** A whole number from a query, or `fallback` when it is absent. @throws ServiceError 400 out of range. */
export function integerIn(
  name: string,
  text: string | undefined,
  { minimum, maximum, fallback }: { minimum: number; maximum: number; fallback: number },
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw invalidRequest(`'${name}' must be an integer from ${minimum} to ${maximum}.`, name, 'invalid_value');
}
