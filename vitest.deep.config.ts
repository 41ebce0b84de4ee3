import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Tests of the default tier that repeat their assertions more often here. */
const repeating = [...new Bun.Glob('{src,plugins,test}/**/*.test.ts').scanSync(import.meta.dirname)].filter(
  (path) => readFileSync(path, 'utf8').includes('harness/tier.ts'),
);

/** `bun run test:deep`: tests that take minutes, one file at a time, because they load the whole machine. */
export default defineConfig({
  test: {
    include: ['test/deep/**/*.test.ts', ...repeating],
    env: { TEST_TIER: 'deep' },
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
