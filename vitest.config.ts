import { readFileSync } from 'node:fs';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { PATIENCE_MS } from './tools/harness/patience.ts';

/** Tests next to the code. */
const SOURCES = ['src', 'server', 'plugins', 'packages', 'scripts', 'tools', 'web'].map(
  (folder) => `${folder}/**/*.test.ts`,
);
/** Files of a group that their suffix names, in every folder. */
const withSuffix = (suffix: string) =>
  `{src,server,plugins,packages,scripts,tools,web,test}/**/*.${suffix}.test.ts`;
const SUFFIXES = ['api', 'process', 'models', 'deep'].map(withSuffix);

/** Tests that repeat their assertions more often in the deep tier. */
const REPEATING = [
  ...new Bun.Glob('{src,server,plugins,packages,test}/**/*.test.ts').scanSync(import.meta.dirname),
].filter((path) => readFileSync(path, 'utf8').includes('harness/tier.ts'));

/** Servers that the files of a group share. */
const GROUP_SERVERS = 'test/setup/group-servers.ts';

/**
 * The files of each group. `scripts/test-runner/groups.ts` describes the groups and runs each in a process of its own. Except in
 * the deep tier, the files of a worker share their modules, which are loaded once.
 */
const FILES: Readonly<Record<string, TestUserConfig>> = {
  unit: { include: SOURCES, exclude: SUFFIXES },
  api: { include: [withSuffix('api')] },
  process: { include: [withSuffix('process')], globalSetup: GROUP_SERVERS },
  e2e: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/deep/**', ...SUFFIXES],
    globalSetup: GROUP_SERVERS,
  },
  models: { include: [withSuffix('models')] },
  deep: {
    include: ['test/deep/**/*.test.ts', withSuffix('deep'), ...REPEATING],
    isolate: true,
    globalSetup: GROUP_SERVERS,
  },
};

export default defineConfig({
  test: {
    pool: 'threads',
    isolate: false,
    // Bun loads the modules itself, as it does in the service. No test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/setup/property-seed.ts'],
    // Only a test that hangs reaches these limits; a failed wait ends earlier, with a message.
    testTimeout: 5 * PATIENCE_MS,
    hookTimeout: 5 * PATIENCE_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    projects: Object.entries(FILES).map(([name, options]) => ({
      extends: true,
      test: { name, ...options },
    })),
  },
});
