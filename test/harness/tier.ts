/** Whether this is the deep tier, `bun run test:deep`. */
const IS_DEEP = process.env.TEST_TIER === 'deep';

/**
 * How often a test repeats an assertion: a few times by default, more often in the deep tier. Files that call this function
 * run in both tiers.
 */
export function repetitions(usual: number, deep: number): number {
  return IS_DEEP ? deep : usual;
}

/** Registers tests that repeat, with a larger model or longer input, what other tests of the default tier check. */
export function inDeepTier(register: () => void): void {
  if (IS_DEEP) register();
}
