import { misspeltName, similarName } from '../../contract/core/nearest-name.ts';

/**
 * Key in a route's `detail`: the route reads its body itself with `receiveForm`, up to this number of bytes. The number is
 * part of the OpenAPI document.
 */
export const UPLOAD_BYTES = 'x-upload-max-bytes';

/** Key in a route's `detail`: a request may open a WebSocket. Part of the OpenAPI document. */
export const WEBSOCKET = 'x-websocket';

/** A mounted route. */
export interface MountedRoute {
  readonly method: string;
  /** A pattern: `/v1/models/:id`, `/files/*`. */
  readonly path: string;
  readonly hooks?:
    | {
        readonly detail?: {
          readonly [UPLOAD_BYTES]?: number;
          readonly [WEBSOCKET]?: boolean;
          readonly hide?: boolean;
        };
      }
    | undefined;
}

/**
 * Looks up the routes of a path before the router does. Of several patterns that match a path, the most specific one
 * counts, as in the router: segment by segment, a literal precedes a parameter, and a parameter precedes a wildcard.
 */
export interface RouteTable {
  /** Methods of the most specific pattern that matches; empty when none matches (404 rather than 405). */
  methodsOf(path: string): readonly string[];
  /** The path of a route that was probably meant by a path without a route; undefined if none is similar. */
  similarTo(path: string): string | undefined;
  /** Max. body size in bytes of a route that reads its body by itself; undefined for all others. */
  uploadBytesOf(method: string, path: string): number | undefined;
  /** Whether a request for the path may open a WebSocket. */
  opensSocket(path: string): boolean;
}

/** The routes of one pattern. */
interface Pattern {
  readonly path: string;
  readonly matches: RegExp;
  readonly methods: Set<string>;
  /** By method. */
  readonly uploadBytes: Map<string, number>;
  opensSocket: boolean;
}

/** Builds the table of all routes of an app. */
export function routeTable(routes: readonly MountedRoute[]): RouteTable {
  const patterns = new Map<string, Pattern>();
  const documented = new Set<string>();
  for (const { method, path, hooks } of routes) {
    if (hooks?.detail?.hide !== true) documented.add(path);
    const pattern = patterns.get(path) ?? newPattern(path);
    patterns.set(path, pattern);
    pattern.methods.add(method);
    // The framework answers HEAD wherever there is GET.
    if (method === 'GET') pattern.methods.add('HEAD');
    const uploadBytes = hooks?.detail?.[UPLOAD_BYTES];
    if (uploadBytes !== undefined) pattern.uploadBytes.set(method, uploadBytes);
    if (hooks?.detail?.[WEBSOCKET] === true) pattern.opensSocket = true;
  }
  const bySpecificity = [...patterns.values()].filter(({ path }) => !isLiteral(path)).sort(moreSpecificFirst);

  function patternOf(path: string): Pattern | undefined {
    const literal = patterns.get(path);
    if (literal !== undefined && isLiteral(path)) return literal;
    return bySpecificity.find(({ matches }) => matches.test(path));
  }

  return {
    similarTo: (path) => {
      const literals = [...documented].filter(isLiteral);
      const filled = [...documented].map((pattern) => filledIn(pattern, path));
      return misspeltName(path, filled) ?? similarName(path, literals);
    },
    methodsOf: (path) => [...(patternOf(path)?.methods ?? [])],
    uploadBytesOf: (method, path) => patternOf(path)?.uploadBytes.get(method),
    opensSocket: (path) => patternOf(path)?.opensSocket ?? false,
  };
}

/** A pattern with the parameters that a path has at their places. */
function filledIn(pattern: string, path: string): string {
  const given = path.split('/');
  const segments = pattern.split('/');
  return segments
    .map((segment, index) => (rankOf(segment) === LITERAL ? segment : (given[index] ?? segment)))
    .join('/');
}

function newPattern(path: string): Pattern {
  return { path, matches: matcher(path), methods: new Set(), uploadBytes: new Map(), opensSocket: false };
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** Compares two patterns by their first segments of different rank. */
function moreSpecificFirst(one: Pattern, other: Pattern): number {
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
