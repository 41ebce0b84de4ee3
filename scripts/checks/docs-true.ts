import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { Glob } from 'bun';
import packageJson from '../../package.json' with { type: 'json' };
import { headingsIn, hrefsIn } from '../../src/guide/markdown-page.ts';
import { configurationErrors } from '../configuration.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.github/**/*.{md,yml}',
  'docs/**/*.md',
  'plugins/*/README.md',
  'bench/README.md',
  'soak/README.md',
  'examples/README.md',
];
/** The page that lists classes and functions with their files. */
const CLASSES = 'docs/classes.md';
const DECISIONS = 'docs/decisions/';
/** The first paragraph of a decision. */
const STATUS = /^# .+\n\nStatus: (?:accepted|replaced by \[.+\]\(.+\)), \d{4}-\d{2}-\d{2}\.\n/;
const FOLDERS =
  'src|server|plugins|native|scripts|test|tools|bench|soak|web|docs|examples|docker|deploy|\\.ci';
/**
 * A repository path in prose, such as src/kit/clock.ts or docs/decisions; placeholders and globs are not
 * matched.
 */
const PATH = new RegExp(`(?<![\\w./-])(?:${FOLDERS})/[\\w./-]*[\\w/-]`, 'g');
const SCRIPT = /\bbun(?:@1\.4)? run ([\w:-]+)/g;

/**
 * Errors in the documents: missing paths, scripts and link targets, wrong tables of settings, decisions without a status, and listed names that their
 * files do not export.
 */
export async function docsErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  const pages = PAGES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })]);
  for (const page of pages) {
    const text = await Bun.file(`${root}/${page}`).text();
    for (const [path] of text.matchAll(PATH)) {
      const made = /^(native\/build|(bench|soak)\/results)\b/.test(path);
      if (!made && !existsSync(`${root}/${path}`))
        errors.push(`${page}: names ${path}, which does not exist`);
    }
    for (const [, script = ''] of text.matchAll(SCRIPT)) {
      if (!Object.hasOwn(packageJson.scripts, script)) errors.push(`${page}: names the script ${script}`);
    }
    if (page.endsWith('.md')) errors.push(...(await linkErrors(root, page, text)));
    if (page.startsWith(DECISIONS) && !STATUS.test(text)) {
      errors.push(`${page}: 'Status: accepted, YYYY-MM-DD.', or 'replaced by' a link, must follow the title`);
    }
  }
  return [
    ...errors,
    ...(await reasonErrors(root)),
    ...(await configurationErrors(root)),
    ...(await classErrors(root)),
  ];
}

/** Links and images whose file or heading does not exist. */
async function linkErrors(root: string, page: string, text: string): Promise<string[]> {
  const errors: string[] = [];
  for (const href of hrefsIn(text).filter((each) => !/^https?:/.test(each))) {
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? page : posix.join(posix.dirname(page), path);
    if (path.startsWith('/') || !existsSync(`${root}/${target}`)) {
      errors.push(`${page}: links to ${href}, which does not exist`);
    } else if (anchor !== undefined) {
      const headings = target.endsWith('.md') ? headingsIn(await Bun.file(`${root}/${target}`).text()) : [];
      const isThere = headings.some((heading) => heading.anchor === anchor);
      if (!isThere) errors.push(`${page}: links to ${href}, but ${target} has no such heading`);
    }
  }
  return errors;
}

/** Pages that comments refer to and that do not exist. */
async function reasonErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  for (const path of new Glob('{src,server,plugins,packages,native,scripts,tools}/**/*.{ts,h,cpp}').scanSync(
    root,
  )) {
    const text = await Bun.file(`${root}/${path}`).text();
    for (const [page] of text.matchAll(/(?<![\w/])docs\/[\w/-]+\.md/g)) {
      if (!existsSync(`${root}/${page}`)) errors.push(`${path}: names ${page}, which does not exist`);
    }
  }
  return errors;
}

/** Rows of the page of classes whose file exists and does not export the name. */
async function classErrors(root: string): Promise<string[]> {
  const page = Bun.file(`${root}/${CLASSES}`);
  if (!(await page.exists())) return [];
  const errors: string[] = [];
  for (const [, name = '', path = ''] of (await page.text()).matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)) {
    const file = Bun.file(`${root}/${path}`);
    const declaration = new RegExp(
      `^export (?:async )?(?:class|function\\*?|interface|type|const) ${name}\\b`,
      'm',
    );
    if ((await file.exists()) && !declaration.test(await file.text())) {
      errors.push(`${CLASSES}: ${path} does not export ${name}`);
    }
  }
  return errors;
}
