/** The models of the file and the default models. Each family of engines describes and parses its tables. */

import { type Static, Type } from '@sinclair/typebox';
import { Secret } from '../contract/core/secret.ts';
import type { ModelSettings, TtsModelSettings, TtsModels } from '../contract/core/settings.ts';
import type { ModelEngine } from '../contract/model-table.ts';
import { FAMILIES } from '../engines/families.ts';
import {
  type AnyFamily,
  ENGINE_TASKS,
  type EngineTask,
  type ModelTables,
  type OtherModels,
  type TableSource,
} from '../engines/family.ts';
import { isRecord } from '../kit/validation/is-record.ts';
import { oneOf } from '../kit/validation/type-errors.ts';
import { ConfigError } from './config-error.ts';
import { checked } from './config-file.ts';
import { DEFAULT_MODELS } from './default-models.ts';
import { OPENAI_NAMES, type OpenaiName } from './openai-names.ts';

/** Keys that determine the schema of a table, so they are validated first. */
const ModelKind = Type.Object({
  kind: oneOf([...new Set(FAMILIES.map(({ kind }) => kind))]),
  task: Type.Optional(Type.Unknown()),
});

/** The tables of models of a CONFIG file. */
export interface ModelsFile {
  /** Path of the file, for error messages. */
  readonly path: string;
  /** Checked by {@link parseModels}. */
  readonly models?: Tables | undefined;
}

/** The models of the file and the default models, by task. */
export interface ParsedModels {
  /** All model ids, in order. */
  readonly ids: readonly string[];
  /** Ids of models with `required = true`, and of their parts. */
  readonly required: ReadonlySet<string>;
  readonly tables: ModelTables;
  /** What is behind each model, by id. */
  readonly engines: ReadonlyMap<string, ModelEngine>;
  /** Models that CONFIG does not define, by id: the model whose engine each has. */
  readonly followers: ReadonlyMap<string, string>;
  /** The followers, and the names whose tables only add keys, by id: the model whose prices each has. */
  readonly pricedAs: ReadonlyMap<string, string>;
}

/** A parsed table. */
interface ParsedModel {
  readonly family: AnyFamily;
  readonly settings: ModelSettings;
  readonly required: boolean;
  readonly source: TableSource;
}

type Variables = (name: string) => string | undefined;
type Tables = Readonly<Record<string, unknown>>;

/**
 * Parses the models.
 * @param variable reads an environment variable, for the API keys of upstreams.
 * @throws ConfigError that names the model and the key.
 */
export function parseModels(file: ModelsFile, variable: Variables): ParsedModels {
  const { openai_names: hasOpenaiNames = true, ...tables } = file.models ?? {};
  if (typeof hasOpenaiNames !== 'boolean') {
    throw new ConfigError(
      `${file.path}: 'models.openai_names' must be true or false; no model can have this id.`,
    );
  }
  const own = new Map<string, ParsedModel>();
  for (const [id, value] of Object.entries({ ...DEFAULT_MODELS, ...tables })) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id)) {
      throw new ConfigError(
        `${file.path}: a model id must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit.`,
      );
    }
    own.set(id, parseModel(id, withFollowedKeys(id, value, tables), file.path, variable));
  }
  const following = new Map<string, ParsedModel>();
  for (const [id, { task, follows }] of hasOpenaiNames ? OPENAI_NAMES : []) {
    // A model that CONFIG maps to another task has no followers.
    if (own.has(id) || own.get(follows)?.family.task !== task) continue;
    following.set(id, parseModel(id, withFollowedKeys(id, {}, tables), file.path, variable));
  }
  // The models that CONFIG adds are last.
  const ids = new Set([...Object.keys(DEFAULT_MODELS), ...following.keys(), ...own.keys()]);
  const parsed = new Map([...ids].flatMap((id) => pairOf(id, own.get(id) ?? following.get(id))));
  requireLanguageModels(file.path, tableOf<TtsModelSettings>(parsed, 'speech'));
  const linked = linkedModels(parsed);
  const followers = new Map([...following.keys()].flatMap((id) => pairOf(id, OPENAI_NAMES.get(id)?.follows)));
  return {
    ids: Object.freeze([...ids]),
    required: requiredIds(linked),
    // Each task has the settings of its families.
    tables: Object.freeze(
      Object.fromEntries(ENGINE_TASKS.map((task) => [task, tableOf(linked, task)])),
    ) as unknown as ModelTables,
    engines: new Map([...linked].map(([id, { settings }]) => [id, engineOf(settings)])),
    followers,
    pricedAs: new Map([...followers, ...extendedNames(tables)]),
  };
}

function pairOf<Value>(id: string, value: Value | undefined): [string, Value][] {
  return value === undefined ? [] : [[id, value]];
}

/** The models of a task. @template Settings what the families of the task have in common. */
function tableOf<Settings extends ModelSettings = ModelSettings>(
  models: ReadonlyMap<string, ParsedModel>,
  task: EngineTask,
): ReadonlyMap<string, Settings> {
  const ofTask = [...models].filter(([, { family }]) => family.task === task);
  return new Map(ofTask.map(([id, { settings }]) => [id, Object.freeze(settings as Settings)]));
}

function parseModel(id: string, value: unknown, path: string, variable: Variables): ParsedModel {
  const location = `models."${id}"`;
  const source: TableSource = {
    hasOpenaiName: OPENAI_NAMES.has(id),
    error: (key, problem) => new ConfigError(`${path}: '${location}.${key}' ${problem}.`),
    secret(key, name) {
      if (name === undefined) return undefined;
      const secret = variable(name);
      if (secret !== undefined) return new Secret(secret);
      throw source.error(key, `names the environment variable ${name}, which is not set`);
    },
  };
  const family = familyOf(id, checked(ModelKind, value, path, location));
  const table = checked(family.schema, value, path, location);
  const { required = false } = table as { readonly required?: boolean };
  return { family, settings: family.parse(table, source), required, source };
}

/** The family of a table. An unknown task is an error of the first one, whose keys all families of the kind have. */
function familyOf(id: string, { kind, task }: Static<typeof ModelKind>): AnyFamily {
  const families = FAMILIES.filter((family) => family.kind === kind);
  const ofTask = (wanted: unknown) => families.find((family) => family.task === wanted);
  const chosen = task === undefined ? (ofTask(taskOfId(id)) ?? ofTask('speech')) : ofTask(task);
  const family = chosen ?? families[0];
  if (family === undefined) throw new Error(`no family '${kind}'`);
  return family;
}

/** The task of an id that exists by default; undefined for others. */
function taskOfId(id: string): EngineTask | undefined {
  const byDefault: Readonly<Record<string, { readonly kind: string }>> = DEFAULT_MODELS;
  const kind = byDefault[id]?.kind;
  return OPENAI_NAMES.get(id)?.task ?? FAMILIES.find((family) => family.kind === kind)?.task;
}

/** The names of OpenAI whose tables have no `kind`, by id: the model that each extends. */
function extendedNames(tables: Tables): Map<string, OpenaiName['follows']> {
  const names = [...OPENAI_NAMES].filter(([id]) => {
    const table = tables[id];
    return isRecord(table) && !('kind' in table);
  });
  return new Map(names.map(([id, { follows }]) => [id, follows]));
}

/**
 * A table of one of OpenAI's names without `kind` adds its keys to those of the model that the name follows:
 * `[models."tts-1"] languages = { … }`. The rules of the name stay those of OpenAI, and it is not `required`, as without a table.
 */
function withFollowedKeys(id: string, value: unknown, tables: Tables): unknown {
  const { follows, task } = OPENAI_NAMES.get(id) ?? {};
  const followed = follows && (tables[follows] ?? DEFAULT_MODELS[follows]);
  if (!isRecord(followed) || !isRecord(value) || 'kind' in value) return value;
  const family = FAMILIES.find((each) => each.kind === followed.kind && each.task === task);
  const ownKeys = ['required', ...(family?.ownKeys ?? [])];
  const taken = Object.entries(followed).filter(([key]) => !ownKeys.includes(key));
  return { ...Object.fromEntries(taken), ...value };
}

/** The models, after each has been completed with what the other models of CONFIG are. */
function linkedModels(parsed: ReadonlyMap<string, ParsedModel>): ReadonlyMap<string, ParsedModel> {
  const others: OtherModels = {
    idsOf: (task) => [...parsed].filter(([, { family }]) => family.task === task).map(([id]) => id),
    familyOf: (id) => parsed.get(id)?.family,
  };
  const link = (model: ParsedModel): ParsedModel => {
    const { family, settings, source } = model;
    return { ...model, settings: family.link?.(settings, others, source) ?? settings };
  };
  return new Map([...parsed].map(([id, model]) => [id, link(model)]));
}

function requiredIds(models: ReadonlyMap<string, ParsedModel>): ReadonlySet<string> {
  const required = [...models].filter((each) => each[1].required);
  return new Set(required.flatMap(([id, { family, settings }]) => [id, ...(family.parts?.(settings) ?? [])]));
}

/** Paths of the operator's files are not shown to clients. */
function engineOf({ kind, weights, compatibility, languages }: TtsModelSettings): ModelEngine {
  return {
    kind,
    ...(weights !== undefined && !weights.startsWith('/') && { weights }),
    ...(compatibility !== undefined && { compatibility }),
    ...(languages !== undefined && { languages: Object.fromEntries(languages) }),
  };
}

/**
 * @throws ConfigError if a language is mapped to what is not another speech model, or if models speak a language through each
 *   other.
 */
function requireLanguageModels(path: string, tts: TtsModels): void {
  const finished = new Set<string>();
  const visit = (id: string, open: readonly string[]): void => {
    if (finished.has(id)) return;
    for (const [tag, target] of tts.get(id)?.languages ?? []) {
      const location = `${path}: 'models."${id}".languages.${tag}'`;
      if (!tts.has(target)) {
        throw new ConfigError(
          `${location} must be a model id of this task; allowed: ${[...tts.keys()].join(', ')}.`,
        );
      }
      const models = [...open, id];
      if (models.includes(target)) {
        throw new ConfigError(
          `${location} must not lead back to its own model: ${[...models.slice(models.indexOf(target)), target].join(' → ')}.`,
        );
      }
      visit(target, models);
    }
    finished.add(id);
  };
  for (const id of tts.keys()) visit(id, []);
}
