import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openGate } from './test-runner/gate.ts';
import { DEEP, GATE, GROUPS } from './test-runner/groups.ts';
import { loadOfMachine } from './test-runner/machine-load.ts';
import { printOutcome } from './test-runner/print-outcome.ts';
import { runPlan } from './test-runner/run-plan.ts';
import { startStress } from './test-runner/stress.ts';

/**
 * Runs the tests with vitest under Bun.
 * - `bun run test`: `bun run check`, then all groups but the deep tier;
 * - `bun run test unit`, `bun run test e2e models`: only these groups;
 * - `bun run test src/kit`: tests whose path contains the argument;
 * - `bun run test --stress`: everything, while other processes compete for the cores and processes of the service pause;
 * - `bun run test:deep` (`--deep`): container images, rolling restarts, more repetitions, with random inputs;
 * - `bun run test:deep --gate`: the part of it that runs before every landing.
 *
 * In a run of all groups, and in the gate, files that fail run once more, alone, after everything else. Files that pass then are
 * printed as flaky. The last line is always `N passed, N failed, N skipped`.
 */

const ROOT = resolve(import.meta.dir, '..');
const STALL_MS = 360_000;
/** The deep tier builds container images within one test. */
const DEEP_STALL_MS = 1_800_000;
/** How much longer waits last while the machine is loaded on purpose. */
const LOADED_PATIENCE = 4;

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    deep: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    stress: { type: 'boolean', default: false },
    // For the tests of this command: another folder with a vitest configuration, and another limit.
    root: { type: 'string', default: ROOT },
    'stall-ms': { type: 'string' },
  },
});
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

/** Runs a command of this repository. Returns whether it succeeded. */
async function succeeds(...command: string[]): Promise<boolean> {
  const stdio = ['ignore', 'inherit', 'inherit'] as const;
  const child = Bun.spawn(command, { cwd: ROOT, stdio: [...stdio], signal: stop.signal });
  return (await child.exited) === 0;
}

const gate = flags.gate ? openGate(ROOT) : undefined;
const isFull = names.length === 0 && !flags.deep;
const named = GROUPS.filter(({ name }) => names.includes(name));
const isNamed = named.length > 0 && named.length === names.length;
const defaults = isNamed ? named : GROUPS;
const selection = { group: { name: '!deep', workers: 2 }, files: names };
const steps = flags.deep
  ? [gate ? { group: GATE, files: gate.files } : { group: DEEP, files: names }]
  : isFull || isNamed
    ? defaults.map((group) => ({ group }))
    : [selection];

// Tests that load ONNX Runtime themselves do not report to its vendor either.
const env: Record<string, string> = { ORT_DISABLE_TELEMETRY: '1' };
if (flags.deep) env.TEST_TIER = gate ? 'gate' : 'deep';
if (flags.deep || flags.stress) env.TEST_PATIENCE = process.env.TEST_PATIENCE ?? String(LOADED_PATIENCE);
if (flags.deep && !gate) {
  env.FC_SEED = process.env.FC_SEED ?? String(Math.floor(Math.random() * 2 ** 31));
  console.log(`seed of the property tests: FC_SEED=${env.FC_SEED}`);
}

console.log(`machine: ${loadOfMachine()}`);
const errors: string[] = [];
if (isFull && flags.root === ROOT && !(await succeeds(process.execPath, 'scripts/check.ts'))) {
  errors.push('bun run check failed');
}
if (gate?.hasContainer && !(await succeeds('bash', 'test/deep/containers/base-images.sh'))) {
  errors.push('the base images could not be built');
}
const stress = flags.stress ? startStress() : undefined;
const outcome = await runPlan({
  root: flags.root,
  steps,
  env,
  stallMs: Number(
    flags['stall-ms'] ?? (flags.deep ? DEEP_STALL_MS : STALL_MS * Number(env.TEST_PATIENCE ?? 1)),
  ),
  runsAgain: isFull || gate !== undefined,
  signal: stop.signal,
});
stress?.stop();
console.log(`machine: ${loadOfMachine()}; ${outcome.durations.join(', ')}`);
const isGreen = printOutcome({ ...outcome, errors: [...errors, ...outcome.errors] });
if (isGreen) gate?.recordPass();
process.exit(isGreen ? 0 : 1);
