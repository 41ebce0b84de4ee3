import { expect, test } from 'vitest';
import { clientNetwork, isWithin, type NetworkRange, parseRange } from './network-address.ts';

const ranges = (...texts: string[]) => texts.map((text) => parseRange(text) as NetworkRange);

test.each([
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['11.0.0.1', ['10.0.0.0/8'], false],
  ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
  ['192.0.2.1', ['192.0.2.1'], true],
  ['192.0.2.2', ['192.0.2.1'], false],
  ['2001:db8::5', ['10.0.0.0/8', '2001:db8::/32'], true],
  ['2001:db9::5', ['2001:db8::/32'], false],
  ['203.0.113.9', ['0.0.0.0/0'], true],
  ['2001:db8::1', ['0.0.0.0/0'], false],
  ['proxy', ['0.0.0.0/0', '::/0'], false],
  ['', ['0.0.0.0/0'], false],
])('%s within %j is %s', (address, texts, inside) => {
  expect(isWithin(address, ranges(...texts))).toBe(inside);
});

test.each([
  '',
  '/8',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10/8',
  '::/129',
  'host',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  ' 10.0.0.1',
])('%j is not a range', (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::'],
  ['fe80::1%eth0', 'fe80::'],
  ['fe80::1%eth-0.7', 'fe80::'],
  ['::ffff:192.0.2.7%eth-0', '192.0.2.7'],
])('%s counts as %s', (address, sender) => {
  expect(clientNetwork(address)).toBe(sender);
});
