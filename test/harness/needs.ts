import type { TestContext } from 'vitest';

/**
 * Skips a test that needs a server or a program which this machine lacks. Under `CI=true` that is a
 * failure: there, every test must run.
 */
export function needs(context: TestContext, present: boolean, what: string): void {
  if (present) return;
  if (process.env.CI === 'true') throw new Error(`this test needs ${what}, which CI must have`);
  context.skip(`needs ${what}`);
}
