import { invalidRequest } from '../../contract/core/error.ts';

/**
 * Gives a request an absolute `http:` URL.
 * - HTTP/1.0 has no Host header (load balancers send such health checks); Bun's URL is then only the path.
 * - The router looks for the path after `http://`, so an `https:` URL would lose a character of it.
 */
export function withAbsoluteUrl(request: Request): Request {
  const { url } = request;
  const isWithoutHost = url.startsWith('/') && request.headers.get('host') === null;
  const value = isWithoutHost ? `http://localhost${url}` : url.replace(/^https:/, 'http:');
  return value === url ? request : Object.defineProperty(request, 'url', { value });
}

/**
 * The URL that a request was sent to. Bun puts the Host header in front of the path. If the header is empty or malformed,
 * only the path is left; if there are several, Bun takes one, and a proxy in front of it may have taken another.
 * @throws ServiceError 400, as RFC 9112 (3.2) requires for an invalid Host header and for more than one.
 */
export function addressOf(request: Request): URL {
  const address = URL.parse(request.url);
  if (address === null || request.headers.get('host')?.includes(',')) {
    throw invalidRequest("The 'Host' header must be a host name, with a port if needed.");
  }
  return address;
}
