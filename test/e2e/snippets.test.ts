import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SECTIONS } from '../../src/guide/guide-pages.ts';
import { HAS_PIP } from '../../tools/harness/clients/python.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { embeddedService } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import {
  bashSyntaxErrors,
  matchesExtension,
  prepareFolder,
  pythonSyntaxErrors,
  README,
  runSnippet,
  type Snippet,
  snippetsOf,
  typeErrors,
} from '../harness/snippets.ts';
import { inDeepTier } from '../harness/tier.ts';

/**
 * Runs the code blocks of the README and the guide against a real service process with the default models. The default tier runs
 * - all blocks of the README and of one page;
 * - the bash blocks of the pages that need little synthesis and transcription.
 *
 * The deep tier runs all blocks. Blocks in other languages send the same requests as the bash blocks before them, and other test
 * files send the requests of the omitted pages.
 */

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = 'docs/guide';
const PAGES = [README, ...readdirSync(join(ROOT, GUIDE)).map((name) => `${GUIDE}/${name}`)];
const WITH_CODE = PAGES.map((page) => ({ page, snippets: snippetsOf(page) })).filter(
  ({ snippets }) => snippets.length > 0,
);

/** The page whose blocks run in all languages by default. */
const USUAL_PAGE = `${GUIDE}/embeddings.md`;
/** Pages whose examples are the same with each speech model. They use the faster one. */
const ANY_VOICE = ['conversations', 'quick-start', 'partner', 'realtime', 'speech', 'transcription'];

/** Pages of which only the deep tier runs blocks, because they synthesize or transcribe much. */
const DEEP_PAGES = ['conversations', 'languages', 'speech', 'transcription', 'video', 'voices'];

const PROGRAMS = { sh: ['bash', 'curl', 'jq'], ts: [], python: ['python3'] } as const;

let service: ServiceAccess;
beforeAll(async () => {
  service = await embeddedService();
});

// Pages run concurrently. The blocks of a page run in order, because later blocks use files of earlier blocks.
describe.concurrent.each(WITH_CODE)('$page', ({ page, snippets }) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'snippets-'));
    await prepareFolder(folder, { page, snippets });
    return () => rm(folder, { recursive: true, force: true });
  });

  const isAnyVoice = ANY_VOICE.some((name) => page === `${GUIDE}/${name}.md`);
  const codeOf = ({ code }: Snippet) => (isAnyVoice ? code.replaceAll('svc-tts', 'svc-tts-fast') : code);
  const runs = (blocks: readonly Snippet[]) =>
    test.for(blocks)('runs block $number ($language)', { concurrent: false }, async (snippet, context) => {
      const missing = PROGRAMS[snippet.language].find((name) => Bun.which(name) === null);
      needs(context, missing === undefined, `${missing}`);
      needs(context, snippet.language !== 'python' || HAS_PIP, 'Python with pip');
      const { output, written } = await runSnippet({ ...snippet, code: codeOf(snippet) }, folder, service);
      // Every block prints something or writes a file.
      expect(output.trim() + written.join()).not.toBe('');
      for (const name of written) expect(await matchesExtension(join(folder, name)), name).toBe(true);
    });
  const isDeep = DEEP_PAGES.some((name) => page === `${GUIDE}/${name}.md`);
  const isUsual = ({ language }: Snippet) =>
    !isDeep && (language === 'sh' || page === USUAL_PAGE || page === README);
  runs(snippets.filter(isUsual));
  inDeepTier(() => runs(snippets.filter((snippet) => !isUsual(snippet))));
});

test('bash blocks have no syntax errors', async (context) => {
  needs(context, Bun.which('bash') !== null, 'bash');
  expect(await bashSyntaxErrors(WITH_CODE)).toBe('');
});

test('Python blocks have no syntax errors', async (context) => {
  needs(context, Bun.which('python3') !== null, 'python3');
  expect(await pythonSyntaxErrors(WITH_CODE)).toBe('');
});

test('TypeScript blocks have no type errors', async () => {
  expect(await typeErrors(WITH_CODE)).toBe('');
});

test('the realtime example of the README is a file', () => {
  const codes = snippetsOf(README).map(({ code }) => code.trim());
  expect(codes).toContain(readFileSync(join(ROOT, 'examples/realtime.ts'), 'utf8').trim());
});

test('commands of the README fail for HTTP errors', () => {
  const commands = snippetsOf(README).flatMap(({ code }) => code.match(/\bcurl .*/g) ?? []);
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) expect(command).toMatch(/^curl -f/);
});

const GUIDES = SECTIONS.find(({ title }) => title === 'Guides')?.pages ?? [];

test('the navigation has a section of guides', () => {
  expect(GUIDES.length).toBeGreaterThan(5);
});

test.each(GUIDES)('$label has code in every language', ({ file }) => {
  const languages = new Set(snippetsOf(file).map(({ language }) => language));
  expect([...languages].sort()).toEqual(['python', 'sh', 'ts']);
});
