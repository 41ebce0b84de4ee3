/** Which methods exist at a path, to tell 405 from 404. */
export interface RouteTable {
  /** Methods of all routes whose pattern fits; empty when the path does not exist. */
  methodsOf(path: string): readonly string[];
}

/** @param routes method and pattern (`/v1/models/:id`, `/files/*`) of every mounted route. */
export function routeTable(
  routes: readonly { readonly method: string; readonly path: string }[],
): RouteTable {
  const patterns = routes.map(({ method, path }) => ({ method, fits: matcher(path) }));
  return {
    methodsOf(path) {
      const methods = patterns.filter(({ fits }) => fits.test(path)).map(({ method }) => method);
      return [...new Set(methods)];
    },
  };
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
