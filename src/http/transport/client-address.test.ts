import { expect, test } from 'vitest';
import { type NetworkRange, parseRange } from '../../kit/validation/network-address.ts';
import { clientAddress } from './client-address.ts';
import { setServerOf } from './connection-server.ts';

const TRUSTED = ['10.0.0.0/8', 'fd00::/8'].map((text) => parseRange(text) as NetworkRange);

function from(peer: string | null, forwarded?: string): Request {
  const request = new Request('http://service.test/', {
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });
  const requestIP = () => (peer === null ? null : { address: peer });
  setServerOf({ timeout: () => undefined, upgrade: () => false, requestIP }, request);
  return request;
}

test.each([
  ['203.0.113.1', undefined, '203.0.113.1'],
  // The header is ignored if the peer is not a trusted proxy.
  ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '192.0.2.99, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '192.0.2.99, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['fd00::1', '2001:db8::7', '2001:db8::7'],
  ['10.0.0.1', 'unknown', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1, ', '10.0.0.1'],
  [null, '198.51.100.1', undefined],
])('peer %s, x-forwarded-for %s: %s', (peer, forwarded, address) => {
  expect(clientAddress(TRUSTED)(from(peer, forwarded))).toBe(address);
});

test('is undefined for a request without a server', () => {
  expect(clientAddress(TRUSTED)(new Request('http://service.test/'))).toBeUndefined();
});
