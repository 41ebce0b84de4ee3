import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { docsErrors } from '../scripts/checks/docs-true.ts';
import { projectFileErrors } from '../scripts/checks/project-files.ts';
import { sourceErrors } from '../scripts/checks/source-rules.ts';
import { testErrors } from '../scripts/checks/test-rules.ts';
import { configurationBlock, environmentTable, modelKeysTable } from '../scripts/configuration.ts';

const ROOT = resolve(import.meta.dirname, '..');

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Creates a temporary tree of files, which is removed after the test. */
function tree(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'gates-test-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function run(args: readonly string[], cwd: string) {
  const tool = Bun.spawn([process.execPath, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([new Response(tool.stdout).text(), new Response(tool.stderr).text()]);
  return { exitCode: await tool.exited, output: `${err}${out}` };
}

describe('dependency directions', () => {
  const cruise = (folder: string) =>
    run(
      [
        join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
        '--config',
        join(ROOT, '.dependency-cruiser.cjs'),
        'src',
        'server',
        'plugins',
        'packages',
        'web',
        'tools',
        'bench',
        'test',
      ],
      folder,
    );
  const right = {
    'src/contract/word.ts': 'export type Word = string;',
    'src/kit/tool.ts': "import type { Word } from '../contract/word.ts';\nexport const tool: Word = 'x';",
    'src/config/config.ts': "import { tool } from '../kit/tool.ts';\nexport const config = tool;",
    'src/text/english/index.ts': 'export const english = 1;',
    'src/engines/engine.ts': "import { tool } from '../kit/tool.ts';\nexport const engine = tool;",
    'server/build.ts': "import { a } from '../plugins/a/index.ts';\nexport const build = a;",
    'plugins/a/index.ts': "import { tool } from '../../src/kit/tool.ts';\nexport const a = tool;",
    'plugins/b/index.ts': 'export const b = 1;',
    'packages/p/src/index.ts': "export { part } from './part.ts';",
    'packages/p/src/part.ts': 'export const part = 1;',
    'src/engines/uses-package.ts':
      "import { part } from '../../packages/p/src/index.ts';\nexport const p = part;",
    'node_modules/elysia/package.json': '{"name":"elysia","main":"index.js"}',
    'node_modules/elysia/index.js': 'exports.Elysia = class {};',
    'test/cases.ts': 'export const cases = 1;',
    'tools/harness/double.ts': "import { tool } from '../../src/kit/tool.ts';\nexport const double = tool;",
    'bench/run.ts': "import { double } from '../tools/harness/double.ts';\nexport const run = double;",
    'web/client/client.ts':
      "import type { a } from '../../plugins/a/index.ts';\nexport type Client = typeof a;",
    'web/pages/x/x-page.tsx':
      "import type { Client } from '../../client/client.ts';\nexport type X = Client;",
    'web/pages/y/y-page.tsx': 'export const y = <p />;',
  };

  test('a valid tree passes', async () => {
    const { exitCode, output } = await cruise(tree(right));
    expect(exitCode, output).toBe(0);
  });

  /** Imports that are not allowed: the file, its text and the rule that it violates. */
  const violations = [
    [
      'src/kit/reads-config.ts',
      "import type { Config } from '../config/config.ts';\nexport type X = Config;",
      'kit-uses-contract-kit',
    ],
    ['src/contract/uses-kit.ts', "import '../kit/tool.ts';", 'contract-uses-contract'],
    [
      'src/http/uses-engines.ts',
      "import '../engines/engine.ts';",
      'http-uses-contract-kit-guide-http-metrics',
    ],
    [
      'src/inference/uses-engines.ts',
      "import '../engines/engine.ts';",
      'inference-uses-contract-kit-inference-models-text',
    ],
    ['src/models/uses-engines.ts', "import '../engines/engine.ts';", 'models-uses-contract-kit-models'],
    ['src/media/uses-engines.ts', "import '../engines/engine.ts';", 'media-uses-contract-kit-audio-media'],
    ['src/sandbox/uses-engines.ts', "import '../engines/engine.ts';", 'sandbox-uses-contract-kit-sandbox'],
    ['src/search/uses-engines.ts', "import '../engines/engine.ts';", 'search-uses-contract-kit-search'],
    ['src/jobs/uses-engines.ts', "import '../engines/engine.ts';", 'jobs-uses-contract-kit-jobs-redis'],
    ['src/http/uses-sqlite.ts', "import 'bun:sqlite';", 'one-importer-of-sqlite'],
    ['src/sandbox/uses-ffi.ts', "import 'bun:ffi';", 'one-importer-of-ffi'],
    ['src/engines/reads-config.ts', "import '../config/config.ts';", 'only-the-server-imports-config'],
    ['src/engines/uses-english.ts', "import '../text/english/index.ts';", 'front-ends-have-one-door'],
    ['src/text/french/uses-english.ts', "import '../english/index.ts';", 'languages-stand-alone'],
    [
      'server/app.ts',
      "import '../src/engines/engine.ts';",
      'plugin-host-and-app-must-not-import-engines-or-stores',
    ],
    ['src/kit/uses-server.ts', "import '../../server/build.ts';", 'only-tests-and-scripts-import-the-server'],
    [
      'plugins/a/uses-server.ts',
      "import '../../server/build.ts';",
      'only-tests-and-scripts-import-the-server',
    ],
    // The only way to add a path is route().
    ['plugins/a/routes.ts', "import 'elysia';", 'one-importer-of-framework'],
    ['src/http/routes/page.ts', "import 'elysia';", 'one-importer-of-framework'],
    ['plugins/a/uses-b.ts', "import '../b/index.ts';", 'plugin-uses'],
    ['plugins/a/uses-engines.ts', "import '../../src/engines/engine.ts';", 'plugin-uses'],
    ['src/engines/uses-a.ts', "import '../../plugins/a/index.ts';", 'only-build-imports-plugins'],
    ['web/client/uses-page.ts', "import '../pages/x/x-page.tsx';", 'console-client-use-client'],
    ['web/pages/x/uses-y.tsx', "import '../y/y-page.tsx';", 'console-pages-must-not-import-each-other'],
    [
      'web/pages/x/uses-kit.tsx',
      "import '../../../src/kit/tool.ts';",
      'console-imports-only-types-of-the-service',
    ],
    ['src/http/uses-console.ts', "import '../../web/client/client.ts';", 'nothing-imports-the-console'],
    ['tools/harness/uses-test.ts', "import '../../test/cases.ts';", 'tools-must-not-import-tests'],
    ['bench/uses-test.ts', "import '../test/cases.ts';", 'tools-must-not-import-tests'],
    ['tools/harness/uses-bench.ts', "import '../../bench/run.ts';", 'tools-must-not-import-benchmarks'],
    ['packages/p/src/uses-kit.ts', "import '../../../src/kit/tool.ts';", 'packages-import-only-themselves'],
    ['packages/p/src/uses-q.ts', "import '../../q/src/index.ts';", 'packages-import-only-themselves'],
    [
      'packages/q/src/index.ts',
      "import '../../../tools/harness/double.ts';",
      'packages-import-only-themselves',
    ],
    [
      'src/engines/uses-part.ts',
      "import '../../packages/p/src/part.ts';",
      'packages-are-imported-by-their-index',
    ],
    ['src/http/uses-package.ts', "import '../../packages/p/src/index.ts';", 'only-engines-import-packages'],
    ['src/kit/uses-missing.ts', "import './gone.ts';", 'no-missing'],
    ['src/kit/uses-itself.ts', "export * from './uses-itself.ts';", 'no-cycles'],
  ] as const;
  /** One run over all of them: the start of the tool takes longer than its work. */
  let violating: { readonly exitCode: number; readonly lines: readonly string[] };
  beforeAll(async () => {
    const wrong = Object.fromEntries(violations.map(([path, text]) => [path, text]));
    const { exitCode, output } = await cruise(tree({ ...right, ...wrong }));
    violating = { exitCode, lines: output.split('\n') };
  });

  test.each(violations)('%s with %j violates %s', (path, _, rule) => {
    expect(violating.exitCode).not.toBe(0);
    expect(violating.lines.filter((line) => line.includes(path)).join('\n')).toContain(rule);
  });
});

describe('source rules', () => {
  test.each([
    ['src/kit/a.ts', 'const home = process.env.HOME;', 'src/config/config.ts reads the environment'],
    ['plugins/a/b.ts', 'const now = Date.now();', 'src/kit/clock.ts reads the time'],
    ['src/http/a.ts', "console.log('text');", 'logs through Logger'],
    ['src/engines/open.ts', "const kind = 'piper';", "only src/engines/piper names 'piper'"],
    ['src/engines/whisper/a.ts', "const kind = 'piper';", "only src/engines/piper names 'piper'"],
  ])('reject in %s: %s', async (path, text, why) => {
    const errors = await sourceErrors(tree({ [path]: `// a comment\n${text}` }));
    expect(errors).toEqual([expect.stringContaining(`${path}:2: `)]);
    expect(errors[0]).toContain(why);
  });

  test('reject spreads of object literals, also in tests', async () => {
    const spread = ['const a = { ..', '.{ b, c } };'].join('');
    const folder = tree({ 'src/kit/a.ts': 'const a = { ...b };', 'test/a.test.ts': spread });
    expect(await sourceErrors(folder)).toEqual(['test/a.test.ts:1: write the properties one per line']);
  });

  test('comments, tests and the permitted file are exempt', async () => {
    const folder = tree({
      'src/config/config.ts': 'export const home = process.env.HOME;',
      'src/kit/clock.ts': 'export const now = () => Date.now();',
      'src/kit/a.ts': '/** Not process.env. */\n// nor Date.now()',
      'src/kit/a.test.ts': 'console.log(Date.now());',
      'src/engines/piper/a.ts': "const kind = 'piper';",
      'src/config/default-models.ts': "const kind = 'piper';",
    });
    expect(await sourceErrors(folder)).toEqual([]);
  });
});

describe('documents', () => {
  const CONFIGURATION = 'docs/guide/configuration.md';
  const page = `# Configuration\n\n${environmentTable()}\n${modelKeysTable()}\n${configurationBlock()}\n`;

  test('without errors pass', async () => {
    const folder = tree({
      [CONFIGURATION]: `${page}\nSee \`server/main.ts\`, [that](../../server/main.ts), [this](#configuration) and \`bun run check\`.`,
      'server/main.ts': '',
    });
    expect(await docsErrors(folder)).toEqual([]);
  });

  test.each([
    ['a path', `${page}\nSee src/gone.ts.`, 'names src/gone.ts, which does not exist'],
    ['a script', `${page}\nType \`npx -y bun@1.4 run fly\`.`, 'names the script fly'],
    ['a default', page.replace('8080', '8081'), 'differs: | PORT |'],
    ['a setting', page.replace('queue_limit = 256', 'queue_limit = 128'), 'differs: queue_limit = 256'],
    ['a missing table', page.replace('[batch]', ''), 'differs: [batch]'],
    ['a repeated setting', page.replace('[batch]', '[batch]\n[batch]'), 'the order of the settings differs'],
    ['a missing variable', page.replace(/^\| HOST .*\n/m, ''), 'differs: | HOST |'],
    ['a link', `${page}\nSee [it](models/gone.md).`, 'links to models/gone.md, which does not exist'],
    ['a link from the root', `${page}\nSee [it](/README.md).`, 'links to /README.md, which does not exist'],
    ['an anchor', `${page}\nSee [it](#gone).`, 'configuration.md has no such heading'],
    ['an unknown variable', `${page}| COLOUR | red | – |\n`, 'contains COLOUR, which is not used'],
  ])('with an error in %s fail', async (_, text, words) => {
    const errors = await docsErrors(tree({ [CONFIGURATION]: text }));
    expect(errors.join('\n')).toContain(words);
  });

  test('a comment that refers to a missing page is reported', async () => {
    const folder = tree({ [CONFIGURATION]: page, 'src/kit/a.ts': '// See docs/decisions/gone.md.' });
    expect(await docsErrors(folder)).toEqual([
      'src/kit/a.ts: names docs/decisions/gone.md, which does not exist',
    ]);
  });

  test('a listed class that its file does not export is reported', async () => {
    const folder = tree({
      [CONFIGURATION]: page,
      'src/a.ts': 'export class Turn {}\nexport async function* speak() {}\nconst Turns = 1;',
      'docs/classes.md': ['Turn', 'speak', 'Turns']
        .map((name) => `| \`${name}\` | \`src/a.ts\` | x |\n`)
        .join(''),
    });
    expect(await docsErrors(folder)).toEqual(['docs/classes.md: src/a.ts does not export Turns']);
  });

  test.each([
    ['# A\n\nStatus: accepted, 2026-11-21.\n\nWhy.', true],
    ['# A\n\nStatus: replaced by [B](configuration.md), 2026-11-21.\n\nWhy.', true],
    ['# A\n\nWhy.', false],
    ['# A\n\nStatus: accepted.\n\nWhy.', false],
  ])('a decision needs a status and a date: %j', async (decision, passes) => {
    const errors = await docsErrors(
      tree({
        [CONFIGURATION]: page,
        'docs/decisions/a.md': decision,
        'docs/decisions/configuration.md': decision,
      }),
    );
    expect(errors.length === 0).toBe(passes);
  });

  test('a missing configuration page is reported', async () => {
    expect(await docsErrors(tree({}))).toEqual([`${CONFIGURATION} is missing`]);
  });
});

describe('test rules', () => {
  test.each([
    ['src/kit/a.test.ts', 'expect(performance.now() - startMs).toBeLessThan(100);', 'measure time in bench'],
    ['test/e2e/a.test.ts', 'expect(Date.now() - startMs).toBeLessThan(100);', 'measure time in bench'],
    ['test/e2e/a.test.ts', 'await expect.poll(count, { timeout: 5000 }).toBe(1);', 'PATIENCE'],
    ['test/contract/a.cases.ts', "test('a', async () => {\n}, 60_000);", 'PATIENCE'],
    ['src/kit/a.process.test.ts', 'await vi.waitFor(() => expect(count).toBe(1));', 'a limit of 1 s'],
    ['src/kit/a.test.ts', 'await Bun.sleep(200);', 'a sleep orders nothing'],
    ['src/kit/a.test.ts', 'setTimeout(() => stop(), 500);', 'a sleep orders nothing'],
    ['src/kit/a.test.ts', "const child = Bun.spawn(['true']);", 'name the file x.process.test.ts'],
    ['plugins/a/b.test.ts', 'const server = Bun.serve({ port: 0 });', 'name the file x.api.test.ts'],
    ['src/kit/a.api.test.ts', "vi.mock('./b.ts');", 'modules cannot be replaced'],
  ])('reject in %s: %s', async (path, text, why) => {
    const errors = await testErrors(tree({ [path]: text }));
    expect(errors).toEqual([expect.stringContaining(why)]);
  });

  test('the deep tier may measure, and other groups may use what unit tests may not', async () => {
    const folder = tree({
      'test/deep/a.test.ts': 'expect(performance.now()).toBeLessThan(100);',
      'src/kit/a.deep.test.ts': 'await Bun.sleep(500);',
      'src/kit/a.process.test.ts': "Bun.spawn(['true']);\nawait vi.waitFor(() => go(), PATIENCE);",
      'src/kit/a.api.test.ts': 'Bun.serve({ port: 0 });',
      'src/kit/a.test.ts': 'await Bun.sleep(0);\nsetTimeout(done, 1);\nvi.useFakeTimers();',
    });
    expect(await testErrors(folder)).toEqual([]);
  });
});

describe('project files', () => {
  const right = {
    'biome.json': '{"formatter":{"indentStyle":"space","indentWidth":2,"lineWidth":110}}',
    '.editorconfig':
      '[*]\nindent_style = space\nindent_size = 2\nmax_line_length = 110\n\n[*.py]\nindent_size = 4\n',
    '.github/actions/prepare/action.yml': 'runs:\n  steps:\n    - uses: actions/cache@v4\n',
    '.github/workflows/ci.yml':
      'jobs:\n  a:\n    timeout-minutes: 5\n    steps:\n      - uses: ./.github/actions/prepare\n  b:\n    uses: ./.github/workflows/ci.yml\n',
    'docker/Dockerfile': 'FROM node:20 AS build\nFROM nvidia/cuda:13.0.1\nCOPY --from=build /packed /\n',
    '.devcontainer/devcontainer.json':
      '{ "build": { "dockerfile": "../docker/Dockerfile", "target": "build" } }',
    'deploy/api.yaml': 'image: registry.example.com/voice-service:0.2.0\n',
    'package.json': '{ "version": "0.2.0" }',
    'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-27\n\n- All.\n',
  };

  test('without errors pass', async () => {
    expect(await projectFileErrors(tree(right))).toEqual([]);
  });

  const workflow = (job: string) => `jobs:\n  a:\n    runs-on: x\n${job}`;
  test.each([
    ['.github/workflows/ci.yml', 'jobs: [', 'is not YAML'],
    ['.github/workflows/ci.yml', workflow(''), 'job a has no timeout-minutes'],
    [
      '.github/workflows/ci.yml',
      workflow('    timeout-minutes: 5\n    steps:\n      - uses: actions/checkout@main\n'),
      'uses actions/checkout@main; pin a version',
    ],
    [
      '.github/workflows/ci.yml',
      workflow('    timeout-minutes: 5\n    steps:\n      - uses: ./.github/actions/gone\n'),
      'uses ./.github/actions/gone, which does not exist',
    ],
    [
      'docker/Dockerfile',
      'FROM node:20 AS build\nFROM registry.test/node:20\n',
      'docker/Dockerfile:2: names the registry host registry.test',
    ],
    [
      'deploy/api.yaml',
      'image: localhost:5000/a:1\n',
      'deploy/api.yaml:1: names the registry host localhost:5000',
    ],
    [
      '.devcontainer/devcontainer.json',
      '{ "image": "registry.test:443/a" }',
      'names the registry host registry.test:443',
    ],
    [
      '.devcontainer/devcontainer.json',
      '{ "build": { "dockerfile": "../docker/Dockerfile", "target": "tools" } }',
      'docker/Dockerfile has no stage tools',
    ],
    ['.editorconfig', '[*]\nindent_size = 2\nmax_line_length = 110\n', "must have 'indent_style = space'"],
    [
      'deploy/api.yaml',
      'image: registry.example.com/voice-service:0.1.9\n',
      'deploy/api.yaml: has the image 0.1.9, but package.json the version 0.2.0',
    ],
    ['CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n', 'CHANGELOG.md: has no section [0.2.0]'],
  ])('with an error in %s fail: %j', async (path, text, message) => {
    expect(await projectFileErrors(tree({ ...right, [path]: text }))).toEqual([
      expect.stringContaining(message),
    ]);
  });
});
