import { beforeEach, expect, it, vi } from 'vitest';
import type { Group } from './groups.ts';
import type { FileResult } from './progress.ts';
import { runPlan } from './run-plan.ts';

const STRICT: Group = { name: 'unit', workers: 2, isStrict: true };
const OTHER: Group = { name: 'e2e', workers: 2 };

beforeEach(() => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  return () => log.mockRestore();
});

function result(file: string, isPassed: boolean): FileResult {
  const test = isPassed
    ? ({ name: 'a', state: 'passed' } as const)
    : ({ name: 'a', state: 'failed', error: 'wrong' } as const);
  return { file, durationMs: 1, tests: [test], errors: [], load: 'load 1' };
}

/**
 * Runs a plan.
 * @param groups the groups with their files, each with the outcome of its runs in order.
 * @returns the outcome, and the arguments of each run.
 */
async function run(
  groups: readonly (readonly [Group, Readonly<Record<string, readonly boolean[]>>])[],
  runsAgain = true,
) {
  const runs: { args: readonly string[]; patience: string | undefined }[] = [];
  const starts = new Map<string, number>();
  const outcome = await runPlan(
    {
      root: '/',
      steps: groups.map(([group]) => ({ group })),
      env: { TEST_PATIENCE: '2' },
      stallMs: 1000,
      runsAgain,
      signal: new AbortController().signal,
    },
    async ({ args, env }) => {
      runs.push({ args, patience: env?.TEST_PATIENCE });
      const [project, , ...selected] = args;
      const [, files = {}] = groups.find(([{ name }]) => project === `--project=${name}`) ?? [];
      const started = Object.entries(files).filter(
        ([file]) => selected.length === 0 || selected.includes(file),
      );
      const results = started.map(([file, passes]) => {
        const count = starts.get(file) ?? 0;
        starts.set(file, count + 1);
        return result(file, passes[count] ?? false);
      });
      return { files: results, errors: [] };
    },
  );
  return { ...outcome, runs };
}

/** Files that fail in their first run only. */
const flakyFiles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.test.ts`, [false, true]]));

it('runs the groups in order, each once', async () => {
  const { runs, errors, flaky, files } = await run([
    [STRICT, { 'a.test.ts': [true] }],
    [OTHER, { 'b.test.ts': [true] }],
  ]);
  expect(runs.map(({ args }) => args)).toEqual([
    ['--project=unit', '--maxWorkers=2'],
    ['--project=e2e', '--maxWorkers=2'],
  ]);
  expect(files.map(({ file }) => file)).toEqual(['a.test.ts', 'b.test.ts']);
  expect([errors, flaky]).toEqual([[], []]);
});

it('ends after a strict group with a failure, without a second run', async () => {
  const { runs } = await run([
    [STRICT, { 'a.test.ts': [false, true] }],
    [OTHER, { 'b.test.ts': [true] }],
  ]);
  expect(runs).toHaveLength(1);
});

it('runs a failed file again, alone, after everything else, with more patience', async () => {
  const other: Group = { name: 'models', workers: 2 };
  const { runs, files, flaky } = await run([
    [OTHER, { 'b.test.ts': [false, true], 'c.test.ts': [true] }],
    [other, { 'd.test.ts': [true] }],
  ]);
  expect(runs.at(-1)).toEqual({ args: ['--project=e2e', '--maxWorkers=1', 'b.test.ts'], patience: '6' });
  expect(runs).toHaveLength(3);
  expect(files.flatMap(({ tests }) => tests.map(({ state }) => state))).toEqual([
    'passed',
    'passed',
    'passed',
  ]);
  expect(flaky).toEqual(['flaky: b.test.ts › a — wrong (load 1)']);
});

it('keeps the failure of a file that fails twice', async () => {
  const { files, flaky } = await run([[OTHER, { 'b.test.ts': [false, false] }]]);
  expect(files.map(({ tests }) => tests[0]?.state)).toEqual(['failed']);
  expect(flaky).toEqual([]);
});

it('runs no file again if more than six fail', async () => {
  const { runs, files } = await run([[OTHER, flakyFiles(7)]]);
  expect(runs).toHaveLength(1);
  expect(files.filter(({ tests }) => tests[0]?.state === 'failed')).toHaveLength(7);
});

it('reports an error for more than three flaky files', async () => {
  expect((await run([[OTHER, flakyFiles(3)]])).errors).toEqual([]);
  const { errors, flaky } = await run([[OTHER, flakyFiles(4)]]);
  expect(flaky).toHaveLength(4);
  expect(errors).toEqual(['more than 3 files are flaky']);
});

it('runs nothing again in a run of selected files', async () => {
  const { runs } = await run([[OTHER, flakyFiles(1)]], false);
  expect(runs).toHaveLength(1);
});
