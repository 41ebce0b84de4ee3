import { resolve } from 'node:path';
import type { TObject } from '@sinclair/typebox';
import { ENVIRONMENT, SECTIONS } from '../server/config.ts';
import { ROOT as ROOT_TABLE } from '../src/config/config-file.ts';
import type { AnySection } from '../src/config/section.ts';
import { FAMILIES } from '../src/engines/families.ts';
import { describeConstraint } from '../src/kit/validation/type-errors.ts';

/**
 * The generated parts of the configuration page: the table of environment variables, the table of the keys of models, and the
 * last TOML block.
 * `bun scripts/configuration.ts` writes them; `bun run check` compares them.
 */

const PAGE = 'docs/guide/configuration.md';
const ENVIRONMENT_TABLE = /^\| variable \| default .*\n(\|.*\n)*/m;
const MODEL_KEYS_TABLE = /^\| kind \| key .*\n(\|.*\n)*/m;
const LAST_BLOCK = /```toml\n(?:(?!```).)*```\n(?!.*```toml)/s;

/** The table of environment variables. */
export function environmentTable(): string {
  const rows = ENVIRONMENT.map(({ name, fallback, meaning }) => `| ${name} | ${fallback} | ${meaning} |\n`);
  return ['| variable | default | meaning |\n', '|---|---|---|\n', ...rows].join('');
}

/** The keys of the tables of `[models]`, which each family of engines describes. Keys of all tasks of a kind are listed once. */
export function modelKeysTable(): string {
  const rows = FAMILIES.flatMap(({ kind, task, schema }) => {
    const others = FAMILIES.filter((family) => family.kind === kind);
    return Object.entries(schema.properties).flatMap(([key, property]) => {
      if (key === 'kind' || key === 'required') return [];
      const isShared = others.every((family) => key in family.schema.properties);
      const name = isShared ? kind : `${kind}, ${task}`;
      const values = describeConstraint(property).replace(/^must be /, '');
      return `| ${name} | ${key} | ${values} | ${defaultOf(schema, key)} | ${property.description} |\n`;
    });
  });
  return ['| kind | key | value | default | meaning |\n', '|---|---|---|---|---|\n', ...new Set(rows)].join(
    '',
  );
}

function defaultOf({ required, properties }: TObject, key: string): string {
  if (required?.includes(key)) return 'required';
  const fallback: unknown = properties[key]?.default;
  return fallback === undefined ? '–' : `\`${fallback}\``;
}

/** The tables of the CONFIG file that have sections, as a fenced block. */
export function configurationBlock(): string {
  const keys = new Map<string, string[]>();
  const comments = new Map<string, string>();
  for (const section of SECTIONS) {
    const { table, doc } = section;
    keys.set(table, [...(keys.get(table) ?? []), ...linesOf(section)]);
    if (doc !== '') comments.set(table, doc);
  }
  const blocks = [...keys].flatMap(([table, lines]) => {
    if (lines.length === 0) return [];
    const header = table === ROOT_TABLE ? [] : [withComment(`[${table}]`, comments.get(table) ?? '')];
    return [`${[...header, ...lines].join('\n')}\n`];
  });
  return `\`\`\`toml\n${blocks.join('\n')}\`\`\`\n`;
}

/** What differs between the page and the settings. */
export async function configurationErrors(root: string): Promise<string[]> {
  const page = Bun.file(`${root}/${PAGE}`);
  if (!(await page.exists())) return [`${PAGE} is missing`];
  const text = await page.text();
  const differing = (kind: string, expected: string) =>
    expected
      .split('\n')
      .filter((line) => !text.includes(line))
      .map((line) => `${PAGE}: this line of the ${kind} is missing or differs: ${line}`);
  const errors = [
    ...differing('environment table', environmentTable()),
    ...differing('table of the keys of models', modelKeysTable()),
    ...differing('CONFIG file', configurationBlock()),
  ];
  const known = new Set<string>(ENVIRONMENT.map(({ name }) => name));
  for (const [, name = ''] of text.matchAll(/^\| ([A-Z][A-Z0-9_]+) \|/gm)) {
    if (!known.has(name)) errors.push(`${PAGE}: the environment table contains ${name}, which is not used`);
  }
  if (errors.length === 0 && generated(text) !== text) {
    errors.push(`${PAGE}: the order of the settings differs; \`bun scripts/configuration.ts\` writes it`);
  }
  return errors;
}

/** Column of the comments, unless a line is longer. */
const COMMENT_COLUMN = 44;

function linesOf({ settings }: AnySection): string[] {
  return Object.values(settings).flatMap(({ key, shown, doc }) =>
    shown === undefined ? [] : [withComment(`${key} = ${shown}`, doc)],
  );
}

function withComment(code: string, comment: string): string {
  return comment === '' ? code : `${code.padEnd(COMMENT_COLUMN)} # ${comment}`;
}

function generated(text: string): string {
  return text
    .replace(ENVIRONMENT_TABLE, environmentTable)
    .replace(MODEL_KEYS_TABLE, modelKeysTable)
    .replace(LAST_BLOCK, configurationBlock);
}

if (import.meta.main) {
  const page = Bun.file(resolve(import.meta.dirname, '..', PAGE));
  await Bun.write(page, generated(await page.text()));
}
