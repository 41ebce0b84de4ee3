import { defineConfig } from 'vitest/config';

/** Tests that take minutes, one file at a time; run by `bun run test:deep`. */
export default defineConfig({
  test: {
    include: ['test/deep/**/*.test.ts'],
    pool: 'threads',
    // They measure or load the whole machine.
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 1_200_000,
  },
});
