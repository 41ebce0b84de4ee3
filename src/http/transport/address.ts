import { invalidRequest } from '../../contract/core/error.ts';

/**
 * Makes the URL of a request an absolute `http:` URL with a path that the router finds.
 * - HTTP/1.0 requests, such as health checks of load balancers, have no Host header; then Bun's URL is only the path.
 * - The router skips the length of `http://`, so the path of an `https:` URL would lose a character.
 * - Clients append `/v1/…` to a base URL that ends in a slash, so repeated slashes of the path count as one.
 */
export function withRoutableUrl(request: Request): Request {
  const { url } = request;
  const isWithoutHost = url.startsWith('/') && request.headers.get('host') === null;
  const absolute = isWithoutHost ? `http://localhost${url}` : url.replace(/^https:/, 'http:');
  const [, origin = '', path = '', query = ''] = /^([a-z]+:\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(absolute) ?? [];
  const value = `${origin}${path.replaceAll(/\/{2,}/g, '/')}${query}`;
  return value === url ? request : Object.defineProperty(request, 'url', { value });
}

/**
 * The URL of a request. Bun builds it from the Host header and the path. With an empty or malformed header it is only the
 * path; with several headers Bun uses one of them, and a proxy in front of it may have used another.
 * @throws ServiceError 400, as RFC 9112 (3.2) requires for an invalid Host header and for more than one.
 */
export function addressOf(request: Request): URL {
  const address = URL.parse(request.url);
  if (address === null || request.headers.get('host')?.includes(',')) {
    throw invalidRequest("The 'Host' header must be a host name with an optional port.");
  }
  return address;
}

/** Addresses that stand for all interfaces; a browser of this machine uses its own name. */
const ALL_INTERFACES: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** The URL of the pages of a server, without a slash at the end. */
export function pageUrl(host: string, port: number): string {
  const isIpv6 = host.includes(':') && !host.startsWith('[');
  const name = ALL_INTERFACES.has(host) ? 'localhost' : isIpv6 ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
