import { expect, it, test } from 'vitest';
import { currentPlatform, unsupportedPlatform } from './platform.ts';

it.each([
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'arm64'],
])('%s-%s is supported', (os, cpu) => {
  expect(unsupportedPlatform({ os, cpu, isMusl: false })).toBeUndefined();
});

it.each([
  ['linux', 'x64', true, 'linux-x64 with musl'],
  ['linux', 'arm64', true, 'linux-arm64 with musl'],
  ['linux', 'riscv64', false, 'linux-riscv64'],
  ['darwin', 'x64', false, 'darwin-x64'],
  ['win32', 'x64', false, 'win32-x64'],
  ['win32', 'arm64', false, 'win32-arm64'],
])('%s-%s (musl: %s) is rejected in one line', (os, cpu, isMusl, name) => {
  const message = unsupportedPlatform({ os, cpu, isMusl });
  expect(message).toContain(`not supported: ${name}.`);
  expect(message).not.toContain('\n');
});

test('the platform of the tests is supported', () => {
  expect(unsupportedPlatform(currentPlatform())).toBeUndefined();
});
