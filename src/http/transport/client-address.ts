import { isIP } from 'node:net';
import { isWithin, type NetworkRange } from '../../kit/validation/network-address.ts';
import { serverOf } from './connection-server.ts';

/** Tells where a request came from: an address, or undefined when its connection has gone. */
export type ClientAddress = (request: Request) => string | undefined;

/**
 * @param trusted proxies whose word is taken: each appends to `x-forwarded-for` whom it heard, so the last address that
 *   is none of theirs is the client's. What stands before it anybody could have written.
 */
export function clientAddress(trusted: readonly NetworkRange[]): ClientAddress {
  return (request) => {
    let address = serverOf(request)?.requestIP(request)?.address;
    const told = request.headers.get('x-forwarded-for')?.split(',') ?? [];
    for (const hop of told.map((each) => each.trim()).reverse()) {
      if (address === undefined || !isWithin(address, trusted) || isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}
