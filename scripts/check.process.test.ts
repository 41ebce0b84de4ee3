import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** Runs the command of `bun run check` without its set-up. */
async function check(...args: readonly string[]) {
  const command = Bun.spawn([process.execPath, 'scripts/check.ts', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
  ]);
  return { exitCode: await command.exited, out, err };
}

test('named checks run alone, in the fixed order', async () => {
  const { exitCode, out, err } = await check('english', 'tests');
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toBe('ok      tests: test rules\nok      english: plain English\n');
});

test('an unknown name is an error with all names', async () => {
  const { exitCode, out, err } = await check('types', 'format');
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
  expect(err).toMatch(/^Unknown check: "format"\. The checks are: types, .*lint, .*documents, .*\.\n$/);
});
