/** Code with its words marked for the style sheet. The only importer of highlight.js. */

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';

/** Languages by the names that fenced blocks give them. */
const LANGUAGES = { sh: bash, toml: ini, json, python, ts: typescript, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** The code as HTML; of a language that is not known, without marks. */
export function highlighted(code: string, language: string): string {
  if (!Object.hasOwn(LANGUAGES, language)) return Bun.escapeHTML(code);
  return hljs.highlight(code, { language }).value;
}
