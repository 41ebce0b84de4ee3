/**
 * Settings of the CONFIG file. Each is written once, with its key, type, range, default and documentation: a section lists the
 * settings of one table. The schema of the file, the typed values and the guide follow from it.
 */

import { type TSchema, Type } from '@sinclair/typebox';
import { Secret } from '../contract/core/secret.ts';
import type { ConfigError } from './config-error.ts';

/** Where a setting is written, for error messages. */
export interface Location {
  /** @param part of the value, such as `.0` for the first entry of a list. */
  error(problem: string, part?: string): ConfigError;
}

/** What values and defaults can depend on besides the file. */
export interface SettingContext {
  /** Reads an environment variable; undefined if it is not set. */
  variable(name: string): string | undefined;
  /** Half of the slots of the inference queue, so that one organization cannot use all of them. */
  readonly halfOfQueue: number;
}

/** A key of a table. */
export interface Setting<Value> {
  readonly key: string;
  /** Of the value in the file. */
  readonly schema: TSchema;
  /** Value in the guide, in TOML; undefined: the guide explains the key elsewhere. */
  readonly shown: string | undefined;
  /** Comment in the guide. */
  readonly doc: string;
  /** Name of the key in earlier versions; a file with it is rejected with a message that has the new name. */
  readonly formerly: string | undefined;
  /** Whether the key is accepted without effect, for one version after its feature was removed. */
  readonly isIgnored: boolean;
  /** @param written undefined without the key. */
  read(written: unknown, at: Location, context: SettingContext): Value;
}

type Settings = Readonly<Record<string, Setting<unknown>>>;
/** Values of settings, by their names in the code. */
export type ValuesOf<S extends Settings> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer Value> ? Value : never;
};

/** Settings of one table of the file. Several sections can have the same table, such as `limits`. */
export interface Section<Table extends string = string, S extends Settings = Settings> {
  readonly table: Table;
  readonly settings: S;
  /** Comment at the table in the guide. */
  readonly doc: string;
}

interface Options<Default> {
  /** Value without the key. */
  readonly default: Default | ((context: SettingContext) => Default);
  /** Comment in the guide: unit, effect, and the default if `example` differs. */
  readonly doc?: string;
  /** Value in the guide, if it is not the default. */
  readonly example?: string | number | readonly string[];
  readonly formerly?: string;
}

/** Settings of a table. @param doc comment at the table in the guide. */
export function section<const Table extends string, S extends Settings>(
  table: Table,
  settings: S,
  doc = '',
): Section<Table, S> {
  return { table, settings, doc };
}

interface IntegerOptions<Default> extends Options<Default> {
  readonly min: number;
  /** Inclusive; absent: no maximum. */
  readonly max?: number;
}

export function integer<const Default extends number | undefined>(
  key: string,
  { min, max, ...options }: IntegerOptions<Default>,
): Setting<number | Default> {
  const range = max === undefined ? { minimum: min } : { minimum: min, maximum: max };
  return setting(key, Type.Integer(range), options);
}

interface TextOptions<Value, Default> extends Options<Default> {
  readonly maxCharacters?: number;
  /** A regular expression. */
  readonly pattern?: string;
  /** Checks and converts the text. */
  readonly parse?: (written: string, at: Location) => Value;
}

export function text<const Default extends string | undefined, Value = string>(
  key: string,
  { maxCharacters, pattern, parse, ...options }: TextOptions<Value, Default>,
): Setting<Value | Default> {
  return setting(key, textSchema({ maxCharacters, pattern }), options, parse);
}

/** A text that a given table must have. Without the table, it is undefined. */
export function requiredText<Value = string>(
  key: string,
  options: Omit<TextOptions<Value, undefined>, 'default'>,
): Setting<Value | undefined> {
  const optional = text<undefined, Value>(key, { ...options, default: undefined });
  return { ...optional, schema: textSchema(options) };
}

interface ListOptions<Value, Default> extends TextOptions<Value, Default> {
  readonly maxItems: number;
}

/** A list of texts. @param options.parse checks and converts an entry. */
export function list<Default extends readonly unknown[] | undefined, Value = string>(
  key: string,
  { maxItems, maxCharacters, pattern, parse, ...options }: ListOptions<Value, Default>,
): Setting<readonly Value[] | Default> {
  const schema = Type.Array(textSchema({ maxCharacters, pattern }), { maxItems });
  const entries = (written: readonly string[], at: Location) =>
    Object.freeze(
      written.map((entry, index) =>
        parse === undefined ? (entry as Value) : parse(entry, partOf(at, `.${index}`)),
      ),
    );
  return setting(key, schema, options, entries);
}

/** The name of an environment variable with a secret. The value is the secret; it must be set. */
export function secretVariable(
  key: string,
  options: Pick<Options<undefined>, 'doc' | 'example'>,
): Setting<Secret | undefined> {
  const read = (name: string, at: Location, { variable }: SettingContext) => {
    const secret = variable(name);
    if (secret !== undefined) return new Secret(secret);
    throw at.error(`names the environment variable ${name}, which is not set`);
  };
  return setting(
    key,
    textSchema({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    { ...options, default: undefined },
    read,
  );
}

/**
 * A value of another form, which the guide explains elsewhere.
 * @param parse is called with a value that matches the schema.
 */
export function value<Written, Default, Value = Written>(
  key: string,
  schema: TSchema,
  options: Pick<Options<Default>, 'default'>,
  parse?: (written: Written, at: Location) => Value,
): Setting<Value | Default> {
  return { ...setting(key, schema, options, parse), shown: undefined };
}

/** A key of a removed feature. */
export function ignored(key: string, schema: TSchema, options: Options<undefined>): Setting<undefined> {
  return { ...setting(key, schema, options, () => undefined), isIgnored: true };
}

function setting<Written, Default, Value = Written>(
  key: string,
  schema: TSchema,
  { default: fallback, doc = '', example, formerly }: Options<Default>,
  parse?: (written: Written, at: Location, context: SettingContext) => Value,
): Setting<Value | Default> {
  return {
    key,
    schema: Type.Optional(schema),
    shown: JSON.stringify(example ?? fallback),
    doc,
    formerly,
    isIgnored: false,
    read(written, at, context) {
      if (written === undefined) return isFunction(fallback) ? fallback(context) : fallback;
      // The file matches the schema.
      return parse === undefined ? (written as Value) : parse(written as Written, at, context);
    },
  };
}

function isFunction<Default>(
  fallback: Default | ((context: SettingContext) => Default),
): fallback is (context: SettingContext) => Default {
  return typeof fallback === 'function';
}

function textSchema({
  maxCharacters,
  pattern,
}: {
  maxCharacters?: number | undefined;
  pattern?: string | undefined;
}) {
  return Type.String({
    ...(maxCharacters !== undefined && { maxLength: maxCharacters }),
    ...(pattern !== undefined && { pattern }),
  });
}

function partOf(at: Location, part: string): Location {
  return { error: (problem, rest = '') => at.error(problem, `${part}${rest}`) };
}

/** The form in which sections are handled together. */
export type AnySection = Section;
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  each: infer All,
) => void
  ? All
  : never;
/** The values of sections, by table. */
export type TablesOf<Each extends AnySection> = Intersection<
  Each extends Section<infer Table, infer S> ? { readonly [Name in Table]: ValuesOf<S> } : never
>;
