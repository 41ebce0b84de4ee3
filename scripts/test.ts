import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * `bun run test`: the test suite under Bun. Other arguments go to vitest (`bun run test src/kit`). The last
 * line is always `N passed, N failed, N skipped`; the exit code is 0 only when nothing failed and
 * something passed. `--deep` runs the files of test/deep instead (`bun run test:deep`): container images,
 * rolling restarts and other checks that take minutes.
 */

const ROOT = resolve(import.meta.dir, '..');

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const args = process.argv.slice(2);
const isDeep = args.includes('--deep');

const scratch = mkdtempSync(join(tmpdir(), 'voice-service-test-'));
const reportPath = join(scratch, 'report.json');
const vitest = Bun.spawn(
  [
    process.execPath,
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...(isDeep ? [`--config=${join(ROOT, 'vitest.deep.config.ts')}`] : []),
    '--pool=threads',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportPath}`,
    ...args.filter((arg) => arg !== '--deep'),
  ],
  { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
);
const exitCode = await vitest.exited;
const file = Bun.file(reportPath);
const report: Report | undefined = (await file.exists()) ? await file.json() : undefined;
rmSync(scratch, { recursive: true });

const tests = report?.testResults.flatMap((result) => result.assertionResults) ?? [];
// Whatever neither passed nor failed did not run.
const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
// A file that could not even be loaded has no failed test in it, and still is a failure.
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
