import { resolve } from 'node:path';
import { asyncApiErrors } from './asyncapi.ts';
import { docsErrors, environmentTable } from './checks/docs-true.ts';
import { plainEnglishErrors } from './checks/plain-english.ts';
import { sourceErrors } from './checks/source-rules.ts';
import { testErrors } from './checks/test-rules.ts';
import { licenceErrors } from './licences.ts';

/**
 * `bun run check`: types, lint and format, dependency rules, source rules, and consistency of the documents.
 * `--environment-table` prints the table of docs/guide/configuration.md.
 */

const ROOT = resolve(import.meta.dir, '..');

interface Check {
  readonly name: string;
  /** Returns the errors; empty if the check passes. */
  run(): Promise<string>;
}

const CHECKS: readonly Check[] = [
  command('types', ['node_modules/typescript/lib/tsc.js', '--project', 'tsconfig.json']),
  command('types of the console', ['node_modules/typescript/lib/tsc.js', '--project', 'web/tsconfig.json']),
  command('lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings']),
  command('dependency directions', [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    ...['src', 'plugins', 'models', 'scripts', 'tools', 'web', 'test', 'bench', 'soak'],
  ]),
  command('cycles between folders', [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.folders.cjs',
    ...['src', 'plugins', 'models', 'web'],
  ]),
  command('unused exports', [
    'node_modules/knip/bin/knip-bun.js',
    '--include',
    'exports,types,files',
    '--no-progress',
  ]),
  { name: 'source rules', run: async () => (await sourceErrors(ROOT)).join('\n') },
  { name: 'test rules', run: async () => (await testErrors(ROOT)).join('\n') },
  { name: 'plain English', run: async () => (await plainEnglishErrors(ROOT)).join('\n') },
  { name: 'documents are consistent', run: async () => (await docsErrors(ROOT)).join('\n') },
  { name: 'licences are known', run: async () => (await licenceErrors(ROOT)).join('\n') },
  { name: 'AsyncAPI documents match the schemas', run: async () => (await asyncApiErrors(ROOT)).join('\n') },
];

/** Runs a tool of node_modules with this Bun. */
function command(name: string, args: readonly string[]): Check {
  return {
    name,
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

if (process.argv.includes('--environment-table')) {
  console.log(environmentTable());
} else {
  let failed = 0;
  for (const check of CHECKS) {
    const errors = await check.run();
    if (errors !== '') failed += 1;
    console.log(errors === '' ? `ok      ${check.name}` : `FAILED  ${check.name}\n${errors}\n`);
  }
  process.exit(failed === 0 ? 0 : 1);
}
