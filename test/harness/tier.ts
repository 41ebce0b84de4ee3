/** The tier of this run: the default tier, the deep tier (`bun run test:deep`), or the gate, a part of the deep tier. */
const TIER = process.env.TEST_TIER ?? 'default';

/**
 * How often a test repeats an assertion: a few times by default, more often in the deep tier. Files that call this function
 * run in both tiers.
 * @param gate the number in the gate. Default: as in the deep tier.
 */
export function repetitions(usual: number, deep: number, gate = deep): number {
  if (TIER === 'gate') return gate;
  return TIER === 'deep' ? deep : usual;
}

/** Whether this run is the complete deep tier. */
export const IS_DEEP_TIER = TIER === 'deep';

/** Registers tests that repeat, with a larger model or longer input, what other tests of the default tier check. */
export function inDeepTier(register: () => void): void {
  if (IS_DEEP_TIER) register();
}
