/** Paths that need no API key (contract); all others do. Written down independently of the routes, which declare it themselves. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  ...['/', '/console/:file', '/healthz', '/readyz', '/metrics', '/.well-known/security.txt'],
  ...['/swagger', '/swagger/json'],
]);

/** Whether a path or pattern is served without an API key. */
export function isPublic(path: string): boolean {
  return PUBLIC_PATHS.has(path) || path === '/docs' || /^\/(docs|swagger)\//.test(path);
}
