import { defineConfig } from 'vitest/config';

/** Unit tests beside the code and everything under test/ except test/deep; run under Bun with `--pool=threads`. */
export default defineConfig({
  test: {
    include: ['src', 'plugins', 'models', 'tools', 'web', 'test'].map((folder) => `${folder}/**/*.test.ts`),
    exclude: ['test/deep/**'],
    pool: 'threads',
    maxWorkers: 2,
    // Of tests of one file that are marked as concurrent.
    maxConcurrency: 2,
    // Real models on two busy cores take their time; a hanging test is still told.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
