import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Glob } from 'bun';

/**
 * Licences of everything that is distributed with the service: runtime packages and packages of the console.
 * `bun run licences` writes the list to docs/licences.md; `bun run check` compares the page with the
 * installed packages. Platform-specific packages are checked but not listed, because they differ between
 * machines.
 */

const PAGE = 'docs/licences.md';
/** The list starts here. */
const HEADING = '## Packages';

/** Licences that require only attribution, and the MPL, which requires the source of its own files. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'Unlicense',
  ],
  ...['MPL-2.0', 'PSF-2.0'],
]);

/** Licences of packages that declare none or an incomplete one. The page states how each was determined. */
const CONTENTS: Readonly<Record<string, string>> = {
  '@shinyoshiaki/jspack': 'BSD-3-Clause',
  phonemizer: 'Apache-2.0 AND GPL-3.0-or-later',
  pyodide: 'MPL-2.0 AND PSF-2.0',
};

/** Packages with other licences; the page explains them. */
const EXCEPTIONS: Readonly<Record<string, string>> = { phonemizer: 'GPL-3.0-or-later' };

/** Prefixes of packages with compiled parts; the page explains them. */
const COMPILED = [
  '@msgpackr-extract/',
  '@node-rs/jieba-',
  '@node-llama-cpp/',
  '@rollup/',
  '@seydx/node-av-',
  'onnxruntime-node',
  'pyodide',
];
const COMPILED_FILES = new Glob('**/*.{node,wasm,so,so.*,dylib,dll,exe}');

interface Manifest {
  readonly name: string;
  readonly license?: string | { readonly type: string };
  readonly licenses?: readonly { readonly type: string }[];
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Package {
  readonly folder: string;
  readonly name: string;
  /** As an SPDX expression; undefined when it is not declared. */
  readonly licence: string | undefined;
  readonly isForOneMachine: boolean;
}

/** Errors in the licences or in the page, one line each. */
export async function licenceErrors(root: string): Promise<string[]> {
  const packages = await installed(root);
  const page = Bun.file(`${root}/${PAGE}`);
  const text = (await page.exists()) ? await page.text() : '';
  const errors = packages.flatMap((each) => errorsOf(each, text));
  if (text !== withList(text, packages))
    errors.push(`${PAGE} does not match the installed packages; run: bun run licences`);
  return errors;
}

function errorsOf({ name, licence, folder }: Package, page: string): string[] {
  const errors: string[] = [];
  if (!isAllowed(licence, EXCEPTIONS[name])) {
    errors.push(`${name}: the licence ${licence ?? '(unknown)'} is not allowed by scripts/licences.ts`);
  }
  const family = COMPILED.find((beginning) => name.startsWith(beginning));
  const [compiled] = COMPILED_FILES.scanSync({ cwd: folder, onlyFiles: true });
  if (compiled !== undefined && !compiled.includes('node_modules/') && family === undefined) {
    errors.push(
      `${name}: has a compiled part, ${compiled}; find out what it contains and document it in ${PAGE}`,
    );
  }
  if (family !== undefined && !page.includes(family)) errors.push(`${PAGE} does not mention ${name}`);
  return errors;
}

/** Whether at least one alternative is allowed; only alternatives may be in parentheses. */
function isAllowed(expression: string | undefined, exception: string | undefined): boolean {
  const allows = (licence: string) => ALLOWED.has(licence) || licence === exception;
  return (expression ?? '?')
    .split(' AND ')
    .every((part) => part.replace(/[()]/g, '').split(' OR ').some(allows));
}

/** Runtime dependencies of package.json, and packages of the console. */
async function installed(root: string): Promise<readonly Package[]> {
  const found = new Map<string, Package>();
  const visit = async (folder: string): Promise<void> => {
    const { dependencies = {}, optionalDependencies = {} }: Manifest = await Bun.file(
      `${folder}/package.json`,
    ).json();
    const built = folder === root ? await importedByPages(root) : [];
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...built]) {
      const place = packageFolder(name, folder, root);
      // A package for another platform.
      if (place === undefined || found.has(place)) continue;
      const manifest: Manifest = await Bun.file(`${place}/package.json`).json();
      found.set(place, {
        folder: place,
        name: manifest.name,
        licence: CONTENTS[manifest.name] ?? named(manifest),
        isForOneMachine: manifest.os !== undefined || manifest.cpu !== undefined,
      });
      await visit(place);
    }
  };
  await visit(root);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the packages that the sources of the console import. */
async function importedByPages(root: string): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const path of new Glob('web/**/*.{ts,tsx}').scanSync(root)) {
    if (path.endsWith('.test.ts')) continue;
    const text = await Bun.file(`${root}/${path}`).text();
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*\(?'((?:@[\w.-]+\/)?[a-z][\w.-]*)[^']*'/g))
      names.add(name);
  }
  return [...names];
}

/** The folder of a package, by the rules of module resolution. */
function packageFolder(name: string, from: string, root: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return realpathSync(place);
    // The file system's root: a package outside the repository, behind a symbolic link.
    if (folder === root || folder === dirname(folder)) return undefined;
  }
}

function named({ license, licenses }: Manifest): string | undefined {
  if (typeof license === 'string') return license;
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ');
}

/** The page with the list of these packages. */
function withList(page: string, packages: readonly Package[]): string {
  const names = new Map<string, Set<string>>();
  for (const { name, licence = 'unknown', isForOneMachine } of packages) {
    if (isForOneMachine) continue;
    const those = names.get(licence) ?? new Set();
    names.set(licence, those.add(name));
  }
  const sections = [...names]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, those]) => `**${licence}** (${those.size}): ${[...those].join(', ')}.\n`);
  const [before = ''] = page.split(HEADING);
  return `${before}${HEADING}\n\n${sections.join('\n')}`;
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, '..');
  const page = Bun.file(`${root}/${PAGE}`);
  await Bun.write(page, withList((await page.exists()) ? await page.text() : '', await installed(root)));
  const errors = await licenceErrors(root);
  console.log(errors.length === 0 ? `${PAGE} is written` : errors.join('\n'));
  process.exit(errors.length === 0 ? 0 : 1);
}
