/** Code with its words marked for the style sheet. The only importer of highlight.js. */

import { createRequire } from 'node:module';

/** What is used of it: its own types would give a browser's to every file of the service. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

const load = createRequire(import.meta.url);
const highlighter: Highlighter = load('highlight.js/lib/core');

/** Languages of highlight.js by the names that fenced blocks give them. */
const LANGUAGES = {
  sh: 'bash',
  toml: 'ini',
  json: 'json',
  python: 'python',
  ts: 'typescript',
  yaml: 'yaml',
} as const;
for (const [name, language] of Object.entries(LANGUAGES)) {
  highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${language}`));
}

/** The code as HTML; of a language that is not known, without marks. */
export function highlighted(code: string, language: string): string {
  if (!Object.hasOwn(LANGUAGES, language)) return Bun.escapeHTML(code);
  return highlighter.highlight(code, { language }).value;
}
