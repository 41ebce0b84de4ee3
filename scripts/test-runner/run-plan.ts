import type { Group } from './groups.ts';
import { type FileResult, hasFailed } from './progress.ts';
import { runVitest, type VitestResult, type VitestRun } from './run-vitest.ts';

/** More failed files are a defect, not bad luck: they do not run again. */
const MAX_RERUNS = 6;
const MAX_FLAKY = 3;
/** Waits of a second run last this many times longer. */
const RERUN_PATIENCE = 3;

export interface TestPlan {
  /** Folder of the vitest configuration. */
  readonly root: string;
  /** Groups to run, in order. */
  readonly steps: readonly TestStep[];
  /** Added to the environment of all tests. */
  readonly env: Readonly<Record<string, string>>;
  /** A run is stopped if no test ends for this time, in ms. */
  readonly stallMs: number;
  /** Whether files that fail run once more. */
  readonly runsAgain: boolean;
  readonly signal: AbortSignal;
}

interface TestStep {
  readonly group: Group;
  /** Parts of paths that select files. Default: all files of the group. */
  readonly files?: readonly string[];
}

export interface TestOutcome {
  /** The results of each file. A second run replaces the first. */
  readonly files: readonly FileResult[];
  /** What failed besides files, in one line each. */
  readonly errors: readonly string[];
  /** A line for each file that failed and then passed. */
  readonly flaky: readonly string[];
  /** The duration of each group, for example `unit 45 s`. */
  readonly durations: readonly string[];
}

/**
 * Runs the groups of a plan one after another, and then, alone, the files that failed. A failure in a strict group ends the
 * run, because its tests depend on nothing that a second run could change.
 * @param runFiles runs the files of one group with vitest. A test can pass another function.
 */
export async function runPlan(
  plan: TestPlan,
  runFiles: (run: VitestRun) => Promise<VitestResult> = runVitest,
): Promise<TestOutcome> {
  const files = new Map<string, FileResult>();
  const errors: string[] = [];
  const durations: string[] = [];
  const failures: { group: Group; result: FileResult }[] = [];

  const run = async ({ group, files: selected = [] }: TestStep, env = plan.env) => {
    const found = await runFiles({
      root: plan.root,
      args: [`--project=${group.name}`, `--maxWorkers=${group.workers}`, ...selected],
      env,
      stallMs: plan.stallMs,
      signal: plan.signal,
    });
    for (const result of found.files) files.set(result.file, result);
    errors.push(...found.errors.map((error) => `${group.name}: ${error}`));
    return found.files.filter(hasFailed);
  };

  for (const step of plan.steps) {
    if (plan.signal.aborted) break;
    const startMs = performance.now();
    const failed = await run(step);
    durations.push(`${step.group.name} ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
    failures.push(...failed.map((result) => ({ group: step.group, result })));
    if (step.group.isStrict && failed.length > 0) break;
  }

  const flaky: string[] = [];
  const isDefect = failures.length > MAX_RERUNS || failures.some(({ group }) => group.isStrict);
  if (plan.runsAgain && !isDefect) {
    const patience = String(RERUN_PATIENCE * Number(plan.env.TEST_PATIENCE ?? 1));
    for (const { group, result } of failures) {
      if (plan.signal.aborted) break;
      console.log(`\nruns again, alone: ${result.file}`);
      const step = { group: { ...group, workers: 1 }, files: [result.file] };
      const again = await run(step, { ...plan.env, TEST_PATIENCE: patience });
      if (again.length === 0) flaky.push(flakyLine(result));
    }
  }
  if (flaky.length > MAX_FLAKY) errors.push(`more than ${MAX_FLAKY} files are flaky`);
  if (plan.signal.aborted) errors.push('the run was stopped');
  return { files: [...files.values()], errors, flaky, durations };
}

/** The first error of a file that passed in its second run. */
function flakyLine({ file, tests, errors, load }: FileResult): string {
  const test = tests.find(({ state }) => state === 'failed');
  const what = test === undefined ? ` — ${errors[0]}` : ` › ${test.name} — ${test.error}`;
  return `flaky: ${file}${what} (${load})`;
}
