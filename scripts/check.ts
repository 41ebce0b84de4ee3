import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { asyncApiErrors } from './asyncapi.ts';
import { docsErrors } from './checks/docs-true.ts';
import { plainEnglishErrors } from './checks/plain-english.ts';
import { projectFileErrors } from './checks/project-files.ts';
import { type Check, runChecks, selectChecks, UnknownCheckError } from './checks/run-checks.ts';
import { sourceErrors } from './checks/source-rules.ts';
import { testErrors } from './checks/test-rules.ts';
import { licenceErrors } from './licences.ts';
import { pluginApiErrors } from './plugin-api.ts';

/**
 * `bun run check`: types, lint and format, dependency rules, source rules, and consistency of the documents.
 * `bun run check NAME…`: only these checks.
 */

const ROOT = resolve(import.meta.dir, '..');
/** Some checks use several cores and up to one GiB of memory themselves. */
const MAX_CONCURRENT_CHECKS = 4;
/** Wrong arguments, as opposed to failed checks. */
const USAGE_EXIT_CODE = 2;

const CHECKS: readonly Check[] = [
  typesOf('types', 'types of the service, the tools and the tests', 'tsconfig.json'),
  typesOf('console-types', 'types of the console', 'web/tsconfig.json'),
  command('lint', 'lint and format', [
    'node_modules/@biomejs/biome/bin/biome',
    'check',
    '--error-on-warnings',
  ]),
  command('directions', 'dependency directions', [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    ...['src', 'server', 'plugins', 'packages', 'scripts', 'tools', 'web', 'test', 'bench', 'soak'],
  ]),
  command('cycles', 'cycles between folders', [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.folders.cjs',
    ...['src', 'server', 'plugins', 'packages', 'web'],
  ]),
  command('exports', 'unused exports', [
    'node_modules/knip/bin/knip-bun.js',
    '--include',
    'exports,types,files',
    '--no-progress',
  ]),
  linesOf('sources', 'source rules', sourceErrors),
  linesOf('tests', 'test rules', testErrors),
  linesOf('english', 'plain English', plainEnglishErrors),
  linesOf('documents', 'documents are consistent', docsErrors),
  linesOf('project', 'workflows, editor settings, versions and image names', projectFileErrors),
  linesOf('licences', 'licences are known', licenceErrors),
  linesOf('plugin-api', 'the interface of plugins is recorded', pluginApiErrors),
  linesOf('asyncapi', 'AsyncAPI documents match the schemas', asyncApiErrors),
];

/** Checks types. The compiler keeps what it knows about unchanged files: a second run takes a quarter of the time. */
function typesOf(name: string, covers: string, project: string): Check {
  return command(name, covers, [
    'node_modules/typescript/lib/tsc.js',
    ...['--project', project],
    ...['--incremental', '--tsBuildInfoFile', `node_modules/.cache/${name}.tsbuildinfo`],
  ]);
}

/** Runs a tool of node_modules with this Bun. */
function command(name: string, covers: string, args: readonly string[]): Check {
  return {
    name,
    covers,
    async run() {
      const tool = Bun.spawn([process.execPath, ...args], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
      const [out, err, code] = await Promise.all([
        new Response(tool.stdout).text(),
        new Response(tool.stderr).text(),
        tool.exited,
      ]);
      return code === 0 ? '' : `${out}${err}`.trim() || `exit code ${code}`;
    },
  };
}

/** Runs a check of this repository, which returns one error per line. */
function linesOf(
  name: string,
  covers: string,
  errorsIn: (root: string) => Promise<readonly string[]>,
): Check {
  return { name, covers, run: async () => (await errorsIn(ROOT)).join('\n') };
}

const { positionals: names } = parseArgs({ allowPositionals: true });
try {
  const limit = Math.min(availableParallelism(), MAX_CONCURRENT_CHECKS);
  const passed = await runChecks(selectChecks(CHECKS, names), limit, console.log);
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  if (!(error instanceof UnknownCheckError)) throw error;
  console.error(error.message);
  process.exitCode = USAGE_EXIT_CODE;
}
