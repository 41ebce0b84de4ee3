import { Glob } from 'bun';

/** A wording that readers have to read twice, and what to write instead. */
interface Pattern {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The vocabulary is in docs/glossary.md. */
const PATTERNS: readonly Pattern[] = [
  {
    pattern: /\btold\b|\btells? (?:of|whether|how|what|which|who|that|the|it|a)\b/,
    instead: 'report, return, log or state',
  },
  {
    pattern: /\b(?:nobody|somebody|whoever|whomever)\b/,
    instead: 'the caller, the process or another noun',
  },
  {
    pattern: /\b(?:anew|meanwhile|thereby|for ever)\b/,
    instead: 'again, in the meantime, or a new sentence',
  },
  { pattern: /\bbeside\b/, instead: 'next to, in addition to, compared with, or concurrently with' },
  { pattern: /\bat once\b/, instead: 'immediately or concurrently' },
  {
    pattern: /\b(?<!\b[Tt]here )(?:is|are|was|were|be) no (?!(?:longer|such|more|less|better|other)\b)[a-z]+/,
    instead: 'is not a …',
  },
  { pattern: /\b(?:is|are|was|were|goes|went) away\b/, instead: 'is unavailable' },
  { pattern: /\bwish(?:ed|es)\b/, instead: 'desired, requested or enabled' },
  { pattern: /\bmend(?:s|ed)?\b/, instead: 'fix or repair' },
  { pattern: /\bknows? (?:of|nothing of|no)\b|\bhears? of\b/, instead: 'what happens, with its subject' },
];

/** Test data and word lists that contain such words. */
const EXCEPTIONS: readonly RegExp[] = [
  /^native\/src\/stop_words\.cpp:/,
  /^test\/reference\/sentences\.ts:/,
  // Text that is synthesized to measure voices: other words would give other measurements.
  /^src\/engines\/kokoro\/worker\/norm-statistics\.ts:/,
  /^bench\/cases\/audio\/native\.ts:.*'was no version'/,
  /^test\/e2e\/speech\.test\.ts:.*'beside'/,
  /^(?:src\/models\/fetch|test\/e2e\/model-fetch|test\/protocol\/trace-check)\.test\.ts:.*'nobody'/,
  /^test\/generators\/legal-conversation\.ts:.*'nobody'/,
];

const TEXTS = [
  '{README,CONTRIBUTING,SECURITY}.md',
  '.github/**/*.{md,yml}',
  'docs/**/*.md',
  'plugins/**/*.md',
  '{bench,soak}/README.md',
  'docker/*.{yml,yaml,cfg,toml}',
  'deploy/**/*.yaml',
];
const SOURCES = [
  '{src,server,plugins,packages,scripts,tools,web,test,bench,soak}/**/*.{ts,tsx}',
  'native/{src,test}/**/*.{h,cpp}',
];
/** Comments and quoted strings are prose, identifiers are not. */
const PROSE = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/**
 * Wordings to replace in documents, comments, messages and names of tests.
 * @param root folder of the repository.
 * @returns one line each: path, line number, wording and alternatives.
 */
export async function plainEnglishErrors(root: string): Promise<string[]> {
  const errors: string[] = [];
  const check = (path: string, line: number, text: string) => {
    for (const { pattern, instead } of PATTERNS) {
      const found = pattern.exec(text);
      if (found) errors.push(`${path}:${line}: '${found[0]}': write ${instead}`);
    }
  };
  for (const [path, text] of await readAll(root, TEXTS)) {
    for (const [index, line] of text.split('\n').entries()) check(path, index + 1, line);
  }
  for (const [path, text] of await readAll(root, SOURCES)) {
    // This file contains the patterns.
    if (path === 'scripts/checks/plain-english.ts') continue;
    let firstLine = 1;
    let counted = 0;
    for (const { 0: prose, index: start } of text.matchAll(PROSE)) {
      for (; counted < start; counted += 1) if (text[counted] === '\n') firstLine += 1;
      const words = prose.startsWith('`') ? prose.replaceAll(/\$\{[^}]*\}/g, '') : prose;
      if (/^['"]\.{1,2}\//.test(words)) continue;
      for (const [index, line] of words.split('\n').entries()) check(path, firstLine + index, line);
    }
  }
  return errors.filter((error) => !EXCEPTIONS.some((exception) => exception.test(error)));
}

async function readAll(root: string, patterns: readonly string[]): Promise<[string, string][]> {
  const paths = patterns.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })]);
  return Promise.all(
    paths.map(async (path): Promise<[string, string]> => [path, await Bun.file(`${root}/${path}`).text()]),
  );
}
