/** Syntax highlighting. The only importer of highlight.js. */

import { createRequire } from 'node:module';

/** The used part of highlight.js. Its own types would add the DOM types to the whole project. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

const load = createRequire(import.meta.url);
const highlighter: Highlighter = load('highlight.js/lib/core');

/** Languages of highlight.js by their names in fenced code blocks. */
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

/** Highlights code as HTML. Code in an unknown language is only escaped. */
export function highlightCode(code: string, language: string): string {
  if (!Object.hasOwn(LANGUAGES, language)) return Bun.escapeHTML(code);
  return highlighter.highlight(code, { language }).value;
}
