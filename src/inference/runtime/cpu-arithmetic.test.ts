import { expect, test } from 'vitest';
import { arithmeticFor } from './cpu-arithmetic.ts';

const cpu = (architecture: string, ...flags: string[]) => ({ architecture, flags: new Set(flags) });

test.each([
  ['cpu', cpu('x64', 'avx2', 'avx512_vnni'), 'int8'],
  ['cpu', cpu('x64', 'avx_vnni'), 'int8'],
  ['cpu', cpu('x64', 'avx2', 'avx512f'), 'uint8'],
  ['cpu', cpu('x64'), 'uint8'],
  ['cpu', cpu('arm64'), 'int8'],
  ['cuda', cpu('x64', 'avx512_vnni'), 'float16'],
] as const)('selects for %s on %o the arithmetic %s', (provider, description, arithmetic) => {
  expect(arithmeticFor(provider, description)).toBe(arithmetic);
});
