import { expect, test } from 'vitest';
import { residentBytes } from './resident-memory.ts';

test('resident memory of a process is read, and is 0 for one that is not there', () => {
  expect(residentBytes(process.pid)).toBeGreaterThan(10 * 2 ** 20);
  expect(residentBytes(0x7fff_ffff)).toBe(0);
});
