import { StartError } from '../../contract/core/error.ts';
import { misspeltName, similarName } from '../../contract/core/nearest-name.ts';
import type { Route } from '../../contract/route.ts';

/** What the table needs to know about a route. */
type Listed = Pick<Route, 'method' | 'path' | 'operation'>;

/**
 * Looks up the routes of a path before the router does. Of several patterns that match a path, the most specific one
 * counts, as in the router: segment by segment, a literal precedes a parameter, and a parameter precedes a wildcard.
 */
export interface RouteTable<Found> {
  /** The routes of the most specific pattern that matches, one for each method; empty when none matches. */
  at(path: string): readonly Found[];
  /** The documented path that was probably meant by a path without a route; undefined if none is similar. */
  similarTo(path: string): string | undefined;
}

/** The routes of one pattern. */
interface Pattern<Found> {
  readonly path: string;
  readonly matches: RegExp;
  readonly routes: Found[];
}

/**
 * Builds the table of all routes of an app.
 * @throws StartError for a method of a path that two routes have, also with other names of parameters: the plugin of another author
 *   must not replace a route.
 */
export function routeTable<Found extends Listed>(routes: readonly Found[]): RouteTable<Found> {
  const patterns = new Map<string, Pattern<Found>>();
  for (const route of routes) {
    const { method, path } = route;
    const shape = shapeOf(path);
    const pattern = patterns.get(shape) ?? { path, matches: matcher(path), routes: [] };
    patterns.set(shape, pattern);
    if (pattern.routes.some((other) => other.method === method)) {
      throw new StartError(`Two routes are ${method} ${path}: each method of a path has one.`);
    }
    pattern.routes.push(route);
  }
  const bySpecificity = [...patterns.values()].filter(({ path }) => !isLiteral(path)).sort(moreSpecificFirst);
  // Built for the first unknown path: reading the operation of a route builds it.
  let listed: readonly string[] | undefined;
  const documentedPaths = () => {
    listed ??= [...new Set(routes.flatMap(({ path, operation }) => (operation === undefined ? [] : path)))];
    return listed;
  };

  return {
    at(path) {
      const literal = isLiteral(path) ? patterns.get(path) : undefined;
      return (literal ?? bySpecificity.find(({ matches }) => matches.test(path)))?.routes ?? [];
    },
    similarTo(path) {
      const filled = documentedPaths().map((pattern) => filledIn(pattern, path));
      return misspeltName(path, filled) ?? similarName(path, documentedPaths().filter(isLiteral));
    },
  };
}

/** The methods of the routes of a path. The framework answers HEAD wherever there is GET. */
export function methodsOf(routes: readonly Pick<Listed, 'method'>[]): readonly string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method));
}

/** A pattern without the names of its parameters. */
function shapeOf(pattern: string): string {
  return pattern
    .split('/')
    .map((segment) => (rankOf(segment) === PARAMETER ? ':' : segment))
    .join('/');
}

/** A pattern with the parameters that a path has at their places. */
function filledIn(pattern: string, path: string): string {
  const given = path.split('/');
  const segments = pattern.split('/');
  return segments
    .map((segment, index) => (rankOf(segment) === LITERAL ? segment : (given[index] ?? segment)))
    .join('/');
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** Compares two patterns by their first segments of different rank. */
function moreSpecificFirst(one: { readonly path: string }, other: { readonly path: string }): number {
  const ranks = other.path.split('/').map(rankOf);
  for (const [index, segment] of one.path.split('/').entries()) {
    const difference = rankOf(segment) - (ranks[index] ?? LITERAL);
    if (difference !== 0) return difference;
  }
  return 0;
}

const LITERAL = 0;
const PARAMETER = 1;
const WILDCARD = 2;

function rankOf(segment: string): number {
  if (segment === '*') return WILDCARD;
  return segment.startsWith(':') ? PARAMETER : LITERAL;
}

function isLiteral(path: string): boolean {
  return path.split('/').every((segment) => rankOf(segment) === LITERAL);
}
