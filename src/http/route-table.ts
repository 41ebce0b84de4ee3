/**
 * Marks, in a route's `detail`, that it reads its body by itself with `receiveForm`, up to so many bytes. The
 * API's documentation shows the number.
 */
export const UPLOAD_BYTES = 'x-upload-max-bytes';

/** What the core knows of a mounted route. */
export interface MountedRoute {
  readonly method: string;
  /** A pattern: `/v1/models/:id`, `/files/*`. */
  readonly path: string;
  readonly hooks?: { readonly detail?: { readonly [UPLOAD_BYTES]?: number } } | undefined;
}

/** What exists at a path, before the framework looks it up. */
export interface RouteTable {
  /** Methods of all routes whose pattern fits, to tell 405 from 404; empty when the path does not exist. */
  methodsOf(path: string): readonly string[];
  /** Largest body of a route that reads its body by itself, in bytes; undefined for all others. */
  uploadBytesOf(method: string, path: string): number | undefined;
}

export function routeTable(routes: readonly MountedRoute[]): RouteTable {
  const patterns = routes.map(({ method, path, hooks }) => ({
    method,
    fits: matcher(path),
    uploadBytes: hooks?.detail?.[UPLOAD_BYTES],
  }));
  const uploads = patterns.filter(({ uploadBytes }) => uploadBytes !== undefined);
  return {
    methodsOf(path) {
      const methods = patterns.filter(({ fits }) => fits.test(path)).map(({ method }) => method);
      // The framework answers HEAD wherever there is GET.
      return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)))];
    },
    uploadBytesOf: (method, path) =>
      uploads.find((route) => route.method === method && route.fits.test(path))?.uploadBytes,
  };
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
