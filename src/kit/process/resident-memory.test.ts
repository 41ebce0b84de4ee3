import { expect, test } from 'vitest';
import { residentBytes } from './resident-memory.ts';

test('reads the resident memory of a process, and returns 0 for an unknown process', () => {
  expect(residentBytes(process.pid)).toBeGreaterThan(10 * 2 ** 20);
  expect(residentBytes(0x7fff_ffff)).toBe(0);
});
