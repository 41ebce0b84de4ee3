import { hasFailed } from './progress.ts';
import type { TestOutcome } from './run-plan.ts';

/** Prints what was skipped, failed and flaky, and the counts in the last line. Returns whether the tests passed. */
export function printOutcome({ files, errors, flaky }: TestOutcome): boolean {
  const tests = files.flatMap(({ file, tests: each }) => each.map((test) => ({ ...test, file })));
  const inState = (state: string) => tests.filter((test) => test.state === state);
  const [passed, failed, skipped] = [inState('passed'), inState('failed'), inState('skipped')];
  // A file that could not be loaded, or whose hook failed, may have no failed test.
  const broken = files.filter(
    (file) => hasFailed(file) && file.tests.every(({ state }) => state !== 'failed'),
  );
  for (const { file, name } of skipped) console.log(`skipped: ${file} › ${name}`);
  for (const { file, name, error } of failed) console.log(`failed: ${file} › ${name} — ${error}`);
  for (const { file, errors: reasons } of broken) console.log(`could not run: ${file} — ${reasons[0]}`);
  for (const error of errors) console.log(`error: ${error}`);
  for (const line of flaky) console.log(line);
  const failures = failed.length + broken.length + errors.length;
  const isGreen = failures === 0 && passed.length > 0;
  const failedCount = isGreen ? 0 : Math.max(1, failures);
  console.log(`${passed.length} passed, ${failedCount} failed, ${skipped.length} skipped`);
  return isGreen;
}
