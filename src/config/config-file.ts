/** The TOML file that CONFIG names: reading, checking, and the values of its sections. */

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parse as parseToml, TomlError, type TomlTable } from 'smol-toml';
import { isRecord } from '../kit/validation/is-record.ts';
import { toValidationIssue } from '../kit/validation/type-errors.ts';
import { ConfigError } from './config-error.ts';
import type { AnySection, Section, SettingContext, ValuesOf } from './section.ts';

/** The checked content of the file; empty without a file. */
export interface ConfigFile {
  readonly path: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Table name of the keys before the first table. */
export const ROOT = '';

/**
 * Reads the file; the default is `service.toml` if it exists.
 * @param schema of the whole file.
 * @throws ConfigError if a named file does not exist, or if it is not valid TOML with the expected schema.
 */
export function readConfigFile(
  named: string | undefined,
  sections: readonly AnySection[],
  schema: TObject,
): ConfigFile {
  const path = resolve(named ?? 'service.toml');
  if (!existsSync(path)) {
    if (named === undefined) return { path, content: {} };
    throw new ConfigError(`Environment variable CONFIG names a file that does not exist: ${path}`);
  }
  let parsed: TomlTable;
  try {
    parsed = parseToml(readFileSync(path, 'utf8'));
  } catch (error) {
    // The message of a TOML error quotes the line, which can contain a secret.
    const where = error instanceof TomlError ? `, line ${error.line}, column ${error.column}` : '';
    throw new ConfigError(`${path}${where}: invalid TOML.`);
  }
  requireNewNames(parsed, sections, path);
  return { path, content: checked(schema, parsed, path, '') };
}

/**
 * The schema of the file.
 * @param others tables that are not sections.
 * @param isWhole whether the sections are all of the build. Otherwise, other tables and keys are accepted.
 */
export function fileSchema(others: TProperties, sections: readonly AnySection[], isWhole: boolean): TObject {
  const strictness = { additionalProperties: !isWhole };
  const tables = new Map<string, TProperties>();
  for (const { table, settings } of sections) {
    const keys = Object.values(settings).map(({ key, schema }) => [key, schema] as const);
    tables.set(table, Object.assign(tables.get(table) ?? {}, Object.fromEntries(keys)));
  }
  const properties: TProperties = { ...others };
  for (const [table, keys] of tables) {
    const [parent = '', child] = table.split('.');
    const schema = Type.Optional(Type.Object(keys, strictness));
    if (table === ROOT) continue;
    if (child === undefined) properties[parent] = schema;
    else {
      const siblings = properties[parent]?.properties ?? {};
      properties[parent] = Type.Optional(Type.Object({ ...siblings, [child]: schema }, strictness));
    }
  }
  return Type.Object(Object.assign(properties, tables.get(ROOT)), strictness);
}

/** The content of a table: of the whole file, of `name`, or of `parent.name`. */
function tableIn(content: ConfigFile['content'], table: string): Readonly<Record<string, unknown>> {
  if (table === ROOT) return content;
  const found = table
    .split('.')
    .reduce<unknown>((each, name) => (isRecord(each) ? each[name] : undefined), content);
  return isRecord(found) ? found : {};
}

/**
 * The values of a section, with the defaults of absent keys.
 * @throws ConfigError for a value that matches the schema but is not allowed.
 */
export function readSection<S extends Section>(
  { table, settings }: S,
  { path, content }: ConfigFile,
  context: SettingContext,
): ValuesOf<S['settings']> {
  const written = tableIn(content, table);
  const values = Object.entries(settings).map(([name, { key, read }]) => {
    const where = table === ROOT ? key : `${table}.${key}`;
    const error = (problem: string, part = '') => new ConfigError(`${path}: '${where}${part}' ${problem}.`);
    return [name, read(written[key], { error }, context)] as const;
  });
  return Object.freeze(Object.fromEntries(values)) as ValuesOf<S['settings']>;
}

/** The keys of the file that are accepted without effect, such as `voices.fit_seconds`. */
export function ignoredKeys(sections: readonly AnySection[], { content }: ConfigFile): readonly string[] {
  return sections.flatMap(({ table, settings }) =>
    Object.values(settings).flatMap(({ key, isIgnored }) => {
      return isIgnored && key in tableIn(content, table) ? [`${table}.${key}`] : [];
    }),
  );
}

/** @throws ConfigError if the file uses the old name of a key. */
function requireNewNames(parsed: TomlTable, sections: readonly AnySection[], path: string): void {
  for (const { table, settings } of sections) {
    const content = tableIn(parsed, table);
    for (const { key, formerly } of Object.values(settings)) {
      if (formerly !== undefined && formerly in content) {
        throw new ConfigError(`${path}: '${table}.${formerly}' has been renamed to '${table}.${key}'.`);
      }
    }
  }
}

/**
 * Returns a value that matches a schema.
 * @param location of the value in the file; empty for the whole file.
 * @throws ConfigError that names the first wrong key and what is allowed.
 */
export function checked<S extends TSchema>(
  schema: S,
  value: unknown,
  path: string,
  location: string,
): Static<S> {
  const error = Value.Errors(schema, value).First();
  if (error === undefined) return value as Static<S>;
  const issue = toValidationIssue(error);
  const field = [location, issue.field].filter((part) => part !== '').join('.');
  throw new ConfigError(`${path}: ${field === '' ? 'the root table' : `'${field}'`} ${issue.problem}.`);
}
