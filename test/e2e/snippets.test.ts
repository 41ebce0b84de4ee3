import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECTIONS } from '../../src/guide/guide-pages.ts';
import { HAS_PIP } from '../../tools/harness/clients/python.ts';
import { type LaunchedService, launchService } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';
import { matchesExtension, prepareFolder, runSnippet, snippetsOf, typeErrors } from '../harness/snippets.ts';

/** Runs all code blocks of the README and the guide against one real process with the default models. */

const GUIDE = 'docs/guide';
const PAGES = [
  'README.md',
  ...readdirSync(join(import.meta.dirname, '../..', GUIDE)).map((name) => `${GUIDE}/${name}`),
];
const WITH_CODE = PAGES.map((page) => ({ page, snippets: snippetsOf(page) })).filter(
  ({ snippets }) => snippets.length > 0,
);

const PROGRAMS = { sh: ['bash', 'curl', 'jq'], ts: [], python: ['python3'] } as const;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService();
});
afterAll(() => service?.stop());

// Pages run concurrently. The blocks of a page run in order, because later blocks use files of earlier blocks.
describe.concurrent.each(WITH_CODE)('$page', ({ snippets }) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'snippets-'));
    await prepareFolder(folder, snippets);
    return () => rm(folder, { recursive: true, force: true });
  });

  test.for(snippets)('runs block $number ($language)', { concurrent: false }, async (snippet, context) => {
    const missing = PROGRAMS[snippet.language].find((name) => Bun.which(name) === null);
    needs(context, missing === undefined, `${missing}`);
    needs(context, snippet.language !== 'python' || HAS_PIP, 'Python with pip');
    const { output, written } = await runSnippet(snippet, folder, service.baseUrl);
    // Every block prints something or writes a file.
    expect(output.trim() + written.join()).not.toBe('');
    for (const name of written) expect(await matchesExtension(join(folder, name)), name).toBe(true);
  });
});

test('TypeScript blocks have no type errors', async () => {
  expect(await typeErrors(WITH_CODE)).toBe('');
});

const GUIDES = SECTIONS.find(({ title }) => title === 'Guides')?.pages ?? [];

test('the navigation has a section of guides', () => {
  expect(GUIDES.length).toBeGreaterThan(5);
});

test.each(GUIDES)('$label has code in every language', ({ file }) => {
  const languages = new Set(snippetsOf(file).map(({ language }) => language));
  expect([...languages].sort()).toEqual(['python', 'sh', 'ts']);
});
