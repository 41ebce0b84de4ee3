import { resolve } from 'node:path';
import { openGate } from './test-runner/gate.ts';
import { DEEP, GROUPS, type Group } from './test-runner/groups.ts';
import { loadOfMachine } from './test-runner/machine-load.ts';
import { type FileResult, hasFailed } from './test-runner/progress.ts';
import { runVitest } from './test-runner/run-vitest.ts';
import { startStress } from './test-runner/stress.ts';

/**
 * Runs the tests with vitest under Bun.
 * - `bun run test`: `bun run check`, then all groups but the deep tier;
 * - `bun run test unit`, `bun run test e2e models`: only these groups;
 * - `bun run test src/kit`: tests whose path contains the argument; arguments go to vitest;
 * - `bun run test --stress`: everything, while other processes compete for the cores and processes of the service pause;
 * - `bun run test:deep` (`--deep`): container images, rolling restarts, more repetitions, with random inputs;
 * - `bun run test:deep --gate`: the part of it that runs before every landing.
 *
 * Files that fail run once more, alone, after everything else. Files that pass then are printed as flaky. The run fails if a
 * file fails twice, if a file of a strict group fails, or if many files fail. The last line is always
 * `N passed, N failed, N skipped`.
 */

const ROOT = resolve(import.meta.dir, '..');
/** More failed files are a defect, not bad luck: they do not run again. */
const MAX_RERUNS = 6;
const MAX_FLAKY = 3;
const STALL_MS = 360_000;
/** A container image is built without any result of a test. */
const DEEP_STALL_MS = 1_800_000;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

const args = process.argv.slice(2);
const takeFlag = (name: string): boolean => {
  const at = args.indexOf(name);
  if (at >= 0) args.splice(at, 1);
  return at >= 0;
};
const [isDeep, isGate, isStress] = ['--deep', '--gate', '--stress'].map(takeFlag);
const env: Record<string, string> = {};
if (isStress) env.TEST_PATIENCE = process.env.TEST_PATIENCE ?? '4';
if (isDeep) {
  env.TEST_TIER = isGate ? 'gate' : 'deep';
  env.TEST_PATIENCE = process.env.TEST_PATIENCE ?? '4';
}
if (isDeep && !isGate) {
  env.FC_SEED = process.env.FC_SEED ?? String(Math.floor(Math.random() * 2 ** 31));
  console.log(`seed of the property tests: FC_SEED=${env.FC_SEED}`);
}

/** The results by file. A second run replaces the first. */
const results = new Map<string, FileResult>();
const errors: string[] = [];

/** Runs files of a group, or all its files. Returns the results. */
async function run(group: Group, files: readonly string[], extra: Record<string, string> = {}) {
  const found = await runVitest({
    args: [`--project=${group.name}`, `--maxWorkers=${group.workers}`, ...files],
    env: { ...env, ...extra },
    stallMs: isDeep ? DEEP_STALL_MS : STALL_MS * Number(env.TEST_PATIENCE ?? 1),
    signal: stop.signal,
  });
  for (const file of found.files) results.set(file.file, file);
  errors.push(...found.errors.map((error) => `${group.name}: ${error}`));
  return found.files;
}

/** Files of a group that failed. */
type Failure = { readonly group: Group; readonly result: FileResult };

/** Runs failed files again, one at a time. Returns a line for each that passes now. */
async function runAgain(failures: readonly Failure[]): Promise<string[]> {
  const flaky: string[] = [];
  for (const { group, result } of failures) {
    console.log(`\nrunning again, alone: ${result.file}`);
    const patience = String(3 * Number(env.TEST_PATIENCE ?? 1));
    await run({ ...group, workers: 1 }, [result.file], { TEST_PATIENCE: patience });
    const again = results.get(result.file);
    if (again === undefined || hasFailed(again)) continue;
    const test = result.tests.find(({ state }) => state === 'failed');
    const what = test ? ` › ${test.name} — ${test.error}` : ` — ${result.errors[0]}`;
    flaky.push(`flaky: ${result.file}${what} (${result.load})`);
  }
  return flaky;
}

const isFull = args.length === 0 && !isDeep;
const named = GROUPS.filter(({ name }) => args.includes(name));
const isNamed = named.length > 0 && named.length === args.length;
const gate = isGate ? openGate(ROOT) : undefined;
const plan: readonly { readonly group: Group; readonly files: readonly string[] }[] = isDeep
  ? [{ group: DEEP, files: gate?.files ?? args }]
  : isFull || isNamed
    ? (isNamed ? named : GROUPS).map((group) => ({ group, files: [] }))
    : [{ group: { name: '!deep', workers: 2 }, files: args }];

console.log(`machine: ${loadOfMachine()}`);
if (isFull) {
  const check = Bun.spawn([process.execPath, 'scripts/check.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: stop.signal,
  });
  if ((await check.exited) !== 0) errors.push('bun run check failed');
}
if (gate?.hasContainer) {
  const script = ['bash', 'test/deep/containers/base-images.sh'];
  const images = Bun.spawn(script, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: stop.signal,
  });
  if ((await images.exited) !== 0) errors.push('the base images could not be built');
}
const stress = isStress ? startStress() : undefined;
const failures: Failure[] = [];
const times: string[] = [];
for (const { group, files } of plan) {
  if (stop.signal.aborted) break;
  const startMs = performance.now();
  const failed = (await run(group, files)).filter(hasFailed);
  times.push(`${group.name} ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  failures.push(...failed.map((result) => ({ group, result })));
  if (group.isStrict && failed.length > 0) break;
}
const canRunAgain =
  (isFull || isGate) && failures.length <= MAX_RERUNS && failures.every(({ group }) => !group.isStrict);
const flaky = canRunAgain && !stop.signal.aborted ? await runAgain(failures) : [];
stress?.stop();

const files = [...results.values()];
const tests = files.flatMap((file) => file.tests.map((test) => ({ ...test, file: file.file })));
const count = (state: string) => tests.filter((test) => test.state === state).length;
// A file that could not be loaded, or whose hook failed, may have no failed test.
const broken = files.filter((file) => hasFailed(file) && file.tests.every(({ state }) => state !== 'failed'));
for (const { file, errors: reasons } of broken) console.log(`could not run: ${file} — ${reasons[0]}`);
for (const { file, name } of tests.filter(({ state }) => state === 'skipped')) {
  console.log(`skipped: ${file} › ${name}`);
}
for (const { file, name, error } of tests.filter(({ state }) => state === 'failed')) {
  console.log(`failed: ${file} › ${name} — ${error}`);
}
for (const error of errors) console.log(`error: ${error}`);
for (const line of flaky) console.log(line);
if (flaky.length > MAX_FLAKY) errors.push(`more than ${MAX_FLAKY} files are flaky`);
if (stop.signal.aborted) errors.push('stopped');
const passed = count('passed');
const failed = count('failed') + broken.length + errors.length;
const isGreen = failed === 0 && passed > 0;
if (isGreen) gate?.recordPass();
console.log(`machine: ${loadOfMachine()}; ${times.join(', ')}`);
console.log(`${passed} passed, ${isGreen ? 0 : Math.max(1, failed)} failed, ${count('skipped')} skipped`);
process.exit(isGreen ? 0 : 1);
