import { invalidRequest } from '../contract/error.ts';

/**
 * The address that a request was sent to. Bun puts the Host header in front of the path; when that is empty
 * or malformed, only the path is left, which is no URL. Of several it takes one, and a proxy before it may have taken
 * another.
 * @throws ServiceError 400, as RFC 9112 (3.2) asks for a Host header that is not valid and for more than one.
 */
export function addressOf(request: Request): URL {
  const address = URL.parse(request.url);
  if (address === null || request.headers.get('host')?.includes(',')) {
    throw invalidRequest("The 'Host' header must be a host name, with a port if needed.");
  }
  return address;
}
