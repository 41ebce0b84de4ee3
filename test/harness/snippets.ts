/** Runs the code blocks of documentation pages: bash with curl, TypeScript in Bun, Python with the OpenAI SDK. */

import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { codeIn } from '../../src/guide/markdown-page.ts';
import { pythonPackages } from '../../tools/harness/clients/python.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { SPOKEN_RATE_HZ, speak } from '../../tools/harness/media/spoken.ts';
import { wavFile } from '../../tools/harness/media/wav-files.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import { encodedFiles } from '../media/media-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const REQUIREMENTS = join(ROOT, 'test/clients/guide/requirements.txt');
/** The page whose commands run as a reader of the repository types them. */
export const README = 'README.md';
const ADDRESS = 'localhost:8080';
const NOT_RUN = /<!-- not run: \S.*-->/;
const LANGUAGES = ['sh', 'ts', 'python'] as const;

export interface Snippet {
  /** Number of the block on its page, from 1. */
  readonly number: number;
  readonly language: (typeof LANGUAGES)[number];
  readonly code: string;
}

export interface PageCode {
  /** Path in the repository. */
  readonly page: string;
  readonly snippets: readonly Snippet[];
}

/** The blocks of a page to run, in order. Blocks after a comment `<!-- not run: REASON -->` are omitted. */
export function snippetsOf(page: string): readonly Snippet[] {
  return codeIn(readFileSync(join(ROOT, page), 'utf8')).flatMap(({ language, code, before }, index) => {
    const known = LANGUAGES.find((name) => name === language);
    if (known === undefined || NOT_RUN.test(before)) return [];
    return { number: index + 1, language: known, code };
  });
}

/** Input files that pages use, and functions that create them. */
const INPUT_FILES: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'call.mp3': (folder) => copyTone('tone.mp3', join(folder, 'call.mp3')),
  'anruf.m4a': (folder) => copyTone('tone.m4a', join(folder, 'anruf.m4a')),
  'anna.wav': async (folder) => {
    const speech = await speak([
      'The harbour was quiet that morning, and only two of the boats had gone out.',
      'Nobody expected rain.',
    ]);
    const shape = { kind: 'int', bits: 16, rateHz: SPOKEN_RATE_HZ, channels: 1 } as const;
    await Bun.write(join(folder, 'anna.wav'), wavFile(shape, joined(speech)));
  },
  'clip.mp4': async (folder) => {
    await Bun.write(join(folder, 'clip.mp4'), await smallClip(folder));
  },
};

async function copyTone(name: string, path: string): Promise<void> {
  const tones = await encodedFiles(2);
  await copyFile(join(tones.folder, name), path);
  await tones.remove();
}

/**
 * Prepares a folder for the code of a page: packages and input files. The commands of the README run as they are, with the
 * sample files of the repository.
 */
export async function prepareFolder(folder: string, { page, snippets }: PageCode): Promise<void> {
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  if (page === README) {
    await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
    return;
  }
  // Without this option, curl exits with 0 for HTTP errors.
  await Bun.write(join(folder, '.curlrc'), 'fail-with-body\n');
  for (const [name, make] of Object.entries(INPUT_FILES)) {
    if (snippets.some(({ code }) => code.includes(name))) await make(folder);
  }
}

/**
 * Runs a snippet against a service.
 * @returns its output and the names of the files that it wrote.
 * @throws Error with its output if it fails.
 */
export async function runSnippet(snippet: Snippet, folder: string, { baseUrl, key }: ServiceAccess) {
  const host = new URL(baseUrl).host;
  const command = await commandOf(snippet, snippet.code.replaceAll(ADDRESS, host), folder);
  const before = await filesOf(folder);
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn(command.line, {
    cwd: folder,
    env: { PATH, HOME, CURL_HOME: folder, KEY: key, ...command.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`the snippet failed:\n${output}${errors}`);
  const after = await filesOf(folder);
  return {
    output,
    written: [...after].filter(([name, at]) => before.get(name) !== at).map(([name]) => name),
  };
}

async function commandOf({ language }: Snippet, code: string, folder: string) {
  switch (language) {
    case 'sh':
      return { line: ['bash', '-euo', 'pipefail', '-c', code] };
    case 'ts':
      await Bun.write(join(folder, 'snippet.ts'), code);
      return { line: [process.execPath, 'snippet.ts'] };
    case 'python':
      return { line: ['python3', '-c', code], env: { PYTHONPATH: await pythonPackages(REQUIREMENTS) } };
  }
}

/** Syntax errors of the Python blocks; empty without errors. */
export async function pythonSyntaxErrors(pages: readonly PageCode[]): Promise<string> {
  const blocks = pages.flatMap(({ page, snippets }) =>
    snippets
      .filter(({ language }) => language === 'python')
      .map(({ number, code }) => [`${page}, block ${number}`, code]),
  );
  if (blocks.length === 0) throw new Error('the pages have no Python blocks');
  const child = Bun.spawn(['python3', '-c', PARSE], {
    stdin: new Blob([JSON.stringify(blocks)]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return (await child.exited) === 0 ? output : errors;
}

/** Syntax errors of the bash blocks; empty without errors. */
export async function bashSyntaxErrors(pages: readonly PageCode[]): Promise<string> {
  const blocks = pages.flatMap(({ page, snippets }) =>
    snippets.filter(({ language }) => language === 'sh').map((snippet) => ({ page, ...snippet })),
  );
  if (blocks.length === 0) throw new Error('the pages have no bash blocks');
  const errors: string[] = [];
  for (const { page, number, code } of blocks) {
    const child = Bun.spawn(['bash', '-n'], { stdin: new Blob([code]), stdout: 'ignore', stderr: 'pipe' });
    const error = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) errors.push(`${page}, block ${number}: ${error.trim()}`);
  }
  return errors.join('\n');
}

/** Prints the syntax errors of named programs in JSON. */
const PARSE = `
import ast, json, sys
for name, code in json.load(sys.stdin):
    try:
        ast.parse(code)
    except SyntaxError as error:
        print(f"{name}: {error}")
`;

/** Compiler errors of the TypeScript blocks under the strict settings of this repository; empty without errors. */
export async function typeErrors(pages: readonly PageCode[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'snippet-types-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const settings = { extends: join(ROOT, 'tsconfig.json'), include: ['*.ts'] };
    await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    for (const { page, snippets } of pages) {
      for (const { language, number, code } of snippets) {
        const name = `${basename(page, '.md')}-${number}.ts`;
        if (language === 'ts') await Bun.write(join(folder, name), code);
      }
    }
    const compiler = join(ROOT, 'node_modules/typescript/lib/tsc.js');
    const child = Bun.spawn([process.execPath, compiler, '--project', folder], {
      cwd: folder,
      stdout: 'pipe',
    });
    return await new Response(child.stdout).text();
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Modification time of each file. */
async function filesOf(folder: string): Promise<ReadonlyMap<string, number>> {
  const names = (await readdir(folder)).filter((name) => !['node_modules', 'examples'].includes(name));
  return new Map(
    await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).mtimeMs] as const)),
  );
}

const startsWith = (at: number, word: string) => (bytes: Buffer) =>
  bytes.toString('latin1', at, at + word.length) === word;
const isJson = (text: string) => typeof JSON.parse(text) === 'object';

/** Content checks of written files by extension. */
const CONTENT_CHECKS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  wav: (bytes) => startsWith(0, 'RIFF')(bytes) && bytes.length > 10_000,
  // More than 1/6 s at every supported sample rate.
  pcm: (bytes) => bytes.length > 8000,
  // A frame of MPEG-2 layer III.
  mp3: (bytes) => startsWith(0, '\xff\xf3')(bytes) && bytes.length > 10_000,
  ogg: startsWith(0, 'OggS'),
  mp4: startsWith(4, 'ftyp'),
  webp: startsWith(8, 'WEBP'),
  vtt: startsWith(0, 'WEBVTT'),
  json: (bytes) => isJson(bytes.toString()),
  jsonl: (bytes) => bytes.length > 0 && bytes.toString().trimEnd().split('\n').every(isJson),
  txt: (bytes) => bytes.length > 0,
};

/** Whether the content of a file matches its extension. */
export async function matchesExtension(path: string): Promise<boolean> {
  return CONTENT_CHECKS[path.slice(path.lastIndexOf('.') + 1)]?.(await readFile(path)) ?? false;
}
