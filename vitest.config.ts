import { defineConfig } from 'vitest/config';

const SOURCES = ['src', 'plugins', 'models', 'scripts', 'tools', 'web'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
/** Tests beside the code that load models, or start processes and servers. */
const SLOW_SOURCES = SOURCES.map((pattern) => pattern.replace('*.test.ts', '*.{models,process}.test.ts'));

/**
 * Three tiers, run under Bun with `--pool=threads`:
 * - `unit` (`bun run test unit`): tests beside the code that need neither a model nor another process;
 * - `integration`: all other tests, except test/deep;
 * - test/deep and the heavier repetitions: vitest.deep.config.ts.
 */
export default defineConfig({
  test: {
    pool: 'threads',
    // More than the cores of a small machine, because many tests wait for processes and servers.
    maxWorkers: 3,
    // Tests of one file that are marked as concurrent.
    maxConcurrency: 2,
    // Real models are slow on two busy cores; a test that hangs still fails.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Other work on a busy machine may delay the condition of an `expect.poll`.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: SOURCES,
          exclude: SLOW_SOURCES,
          // Most of the time of a small file is the import of its modules.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: [...SLOW_SOURCES, 'test/**/*.test.ts'],
          exclude: ['test/deep/**'],
        },
      },
    ],
  },
});
