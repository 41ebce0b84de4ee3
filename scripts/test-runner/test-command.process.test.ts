import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

/** `scripts/test.ts` on small suites of their own. */

const ROOT = resolve(import.meta.dirname, '../..');
const HEAD = "import { expect, test } from 'vitest';\nimport { existsSync, writeFileSync } from 'node:fs';\n";
const PASSES = `${HEAD}test('a', () => expect(1).toBe(1));`;
/** Fails in its first run only. */
const FLAKY = `${HEAD}test('c', () => {
  const isFirst = !existsSync(import.meta.filename + '.ran');
  writeFileSync(import.meta.filename + '.ran', '');
  expect(isFirst).toBe(false);
});`;
const CONFIG = `export default { test: { pool: 'threads', projects: ['unit', 'api', 'process', 'e2e', 'models', 'deep'].map((name) => ({
  test: { name, include: [name + '/*.test.ts'] },
})) } };`;

/** Runs the command on a suite of files by their path, such as `unit/a.test.ts`. Each group is a start of vitest; `args` may name those needed. */
async function run(files: Readonly<Record<string, string>>, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'test-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries({ ...files, 'vitest.config.ts': CONFIG })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { TEST_TIER, FC_SEED, TEST_PATIENCE, ...env } = process.env;
  const command = [process.execPath, 'scripts/test.ts', '--root', folder, ...args];
  const child = Bun.spawn(command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return {
    exitCode: await child.exited,
    output,
    lastLine: output.trimEnd().split('\n').at(-1),
    flaky: output.split('\n').filter((line) => line.startsWith('flaky: ')),
  };
}

describe('the last line', () => {
  test.each([
    ['a skipped test', `${PASSES}\ntest.skip('d', () => {});`, 0, '1 passed, 0 failed, 1 skipped'],
    ['a failed test', `${PASSES}\ntest('d', () => expect(1).toBe(2));`, 1, '1 passed, 1 failed, 0 skipped'],
    ['a file that cannot be loaded', "import './gone.ts';", 1, '0 passed, 1 failed, 0 skipped'],
    ['only skipped tests', `${HEAD}test.skip('d', () => {});`, 1, '0 passed, 1 failed, 1 skipped'],
  ])('has the counts of %s', async (_, text, exitCode, line) => {
    expect(await run({ 'e2e/a.test.ts': text }, 'e2e')).toMatchObject({ exitCode, lastLine: line });
  });
});

test('a file that fails and passes in a second run is flaky', async () => {
  const { exitCode, flaky, output, lastLine } = await run({
    'unit/a.test.ts': PASSES,
    'e2e/c.test.ts': FLAKY,
  });
  expect(output).toContain('runs again, alone: e2e/c.test.ts');
  expect(flaky).toEqual([
    expect.stringMatching(/^flaky: e2e\/c\.test\.ts › c — expected true to be false .*\(load .*CPU pressure/),
  ]);
  expect({ exitCode, lastLine }).toEqual({ exitCode: 0, lastLine: '2 passed, 0 failed, 0 skipped' });
});

test('a file that crashes the process is named, and other groups still run', async () => {
  const crash = `${HEAD}test('d', () => process.kill(process.pid, 'SIGKILL'));`;
  const { exitCode, output } = await run(
    { 'process/d.test.ts': crash, 'e2e/a.test.ts': PASSES },
    ...['process', 'e2e'],
  );
  expect(output).toMatch(
    /could not run: process\/d\.test\.ts — vitest exited with code \d+ before the file ended/,
  );
  expect(output).toContain('1 passed');
  expect(exitCode).toBe(1);
});

test('a file that hangs is named, and the run is stopped', async () => {
  const hang = `${HEAD}test('d', () => new Promise(() => {}), 1e9);`;
  const { exitCode, output } = await run({ 'e2e/d.test.ts': hang }, 'e2e', '--stall-ms', '3000');
  expect(output).toContain('running: e2e/d.test.ts');
  expect(exitCode).toBe(1);
});
