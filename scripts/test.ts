import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Runs the tests with vitest under Bun. Other arguments go to vitest (`bun run test src/kit`).
 * - `bun run test`: everything but the deep tier;
 * - `bun run test unit`: tests that need neither a model nor another process, in less than a minute;
 * - `bun run test:deep` (`--deep`): container images, rolling restarts, more repetitions.
 *
 * The last line is always `N passed, N failed, N skipped`. The exit code is 0 only if nothing failed and something passed.
 */

const ROOT = resolve(import.meta.dir, '..');

/** The part of vitest's JSON report that this script uses. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const TIERS: Readonly<Record<string, readonly string[]>> = {
  unit: ['--project=unit'],
  '--deep': [`--config=${join(ROOT, 'vitest.deep.config.ts')}`],
};
const [first = '', ...rest] = process.argv.slice(2);
const tier = TIERS[first];
const args = tier ? [...tier, ...rest] : process.argv.slice(2);

const scratch = mkdtempSync(join(tmpdir(), 'voice-service-test-'));
const reportPath = join(scratch, 'report.json');
const vitest = Bun.spawn(
  [
    process.execPath,
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--pool=threads',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportPath}`,
    ...args,
  ],
  { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
);
const exitCode = await vitest.exited;
const file = Bun.file(reportPath);
const report: Report | undefined = (await file.exists()) ? await file.json() : undefined;
rmSync(scratch, { recursive: true });

const tests = report?.testResults.flatMap((result) => result.assertionResults) ?? [];
// All other statuses count as skipped.
const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
// A file that fails to load has no failed test, but is a failure.
const broken = report?.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
);
const passed = report?.numPassedTests ?? 0;
let failed = (report?.numFailedTests ?? 0) + (broken?.length ?? 0);
if (failed === 0 && (exitCode !== 0 || passed === 0)) failed = 1;

for (const { name } of broken ?? []) console.log(`could not run: ${name}`);
for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
process.exit(failed === 0 ? 0 : 1);
