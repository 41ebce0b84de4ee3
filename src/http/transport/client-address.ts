import { isIP } from 'node:net';
import { isWithin, type NetworkRange } from '../../kit/validation/network-address.ts';
import { serverOf } from './connection-server.ts';

/** Returns the client's IP address, or undefined if its connection is closed. */
export type ClientAddress = (request: Request) => string | undefined;

/**
 * Creates a function that resolves client addresses behind proxies.
 * @param trusted address ranges of trusted proxies. Each proxy appends the address of its peer to `x-forwarded-for`, so the
 *   last address outside these ranges is the client's. Entries before it can be forged.
 */
export function clientAddress(trusted: readonly NetworkRange[]): ClientAddress {
  return (request) => {
    let address = serverOf(request)?.requestIP(request)?.address;
    const forwarded = request.headers.get('x-forwarded-for')?.split(',') ?? [];
    for (const hop of forwarded.map((each) => each.trim()).reverse()) {
      if (address === undefined || !isWithin(address, trusted) || isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}
