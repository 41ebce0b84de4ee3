import { dirname } from 'node:path';
import { Type } from '@sinclair/typebox';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import { type ConfigFile, fileSchema, ignoredKeys, readConfigFile, readSection } from './config-file.ts';
import { parseModels } from './models.ts';
import type { AnySection, TablesOf } from './section.ts';
import {
  API_KEYS,
  accounts,
  parseApiKeys,
  parsePrices,
  RATE_LIMITS,
  rateLimits,
} from './sections/accounts.ts';
import { HTTP } from './sections/http.ts';
import { INFERENCE, inferenceSettings, PROVIDER } from './sections/inference.ts';
import { LEXICON } from './sections/lexicon.ts';
import { coreLimits, LIMITS } from './sections/limits.ts';
import { MODEL_VARIABLES, modelFileSettings } from './sections/models.ts';
import { PLUGINS_TABLE, UNKNOWN_PLUGINS } from './sections/plugins.ts';
import { SERVER_VARIABLES, serverSettings } from './sections/server.ts';
import { STORAGE_VARIABLES, storageSettings } from './sections/storage.ts';
import {
  CODE_INTERPRETER,
  codeInterpreterSettings,
  WEB_SEARCH,
  webSearchSettings,
} from './sections/tools.ts';
import { TRACING_VARIABLES, tracingSettings } from './sections/tracing.ts';
import { type Environment, textOf, textVariable, type Variable } from './variable.ts';

export { ConfigError } from './config-error.ts';

const CONFIG = textVariable('CONFIG', {
  fallback: './service.toml if it exists',
  meaning: 'TOML file with models, inference, limits and prices',
});
const PLUGINS = textVariable('PLUGINS', {
  default: 'all',
  meaning: 'comma-separated list of the plugins to load',
});

/** All environment variables of the service, in the order of the guide. */
export const ENVIRONMENT: readonly Variable<unknown>[] = [
  ...SERVER_VARIABLES.flatMap((group) => Object.values(group)),
  API_KEYS,
  PLUGINS,
  CONFIG,
  ...STORAGE_VARIABLES.flatMap((group) => Object.values(group)),
  ...Object.values(MODEL_VARIABLES),
  PROVIDER,
  ...Object.values(TRACING_VARIABLES),
];

/** The sections of the core except those of accounts, in the order of the guide. */
const CORE_SECTIONS: readonly AnySection[] = [
  INFERENCE,
  HTTP,
  RATE_LIMITS,
  LIMITS,
  CODE_INTERPRETER,
  WEB_SEARCH,
  LEXICON,
  PLUGINS_TABLE,
];

/** What plugins add to the configuration. */
export interface Features<Feature extends AnySection> {
  readonly sections: readonly Feature[];
  /** Endpoints with prices. */
  readonly usage: readonly EndpointLabel[];
  /** Sections `plugin.NAME` of plugins of other authors. Absent: these plugins are not loaded, and their tables not checked. */
  readonly extra?: readonly AnySection[];
}

/** All sections of a CONFIG file, in the order of the guide. */
export function allSections(features: Features<AnySection> | undefined): readonly AnySection[] {
  return [accounts(features?.usage), ...CORE_SECTIONS, ...(features?.sections ?? [])];
}

/** Tables that are not sections. */
const OTHER_TABLES = { models: Type.Optional(Type.Record(Type.String(), Type.Unknown())) };

/**
 * The plugins that `[plugins] extra` names: paths and names of packages, as seen from `folder`.
 * @throws ConfigError if the file cannot be read or the list is invalid. Other settings are not checked.
 */
export function extraPlugins(environment: Environment = process.env): {
  readonly names: readonly string[];
  readonly folder: string;
} {
  const sections = [PLUGINS_TABLE];
  const file = readConfigFile(CONFIG.read(environment), sections, fileSchema({}, sections, false));
  const { extra } = readSection(PLUGINS_TABLE, file, { variable: () => undefined, halfOfQueue: 0 });
  return { names: extra, folder: dirname(file.path) };
}

/**
 * Reads the environment and the file that `CONFIG` names.
 * @param features of all plugins. Absent: only the settings of the core are read, and other keys of the file are not checked; for
 *   tests of the core.
 * @throws ConfigError for unknown names, wrong types and values out of range. The message never contains
 *   values, because they can be keys.
 */
export function loadConfig<const Feature extends AnySection = never>(
  environment: Environment = process.env,
  features?: Features<Feature>,
) {
  const { extra } = features ?? {};
  const sections = [...allSections(features), ...(extra ?? [UNKNOWN_PLUGINS])];
  const schema = fileSchema(OTHER_TABLES, sections, features !== undefined);
  const file = readConfigFile(CONFIG.read(environment), sections, schema);
  const variable = (name: string) => textOf(environment, name);
  const inference = readSection(INFERENCE, file, { variable, halfOfQueue: 0 });
  const context = { variable, halfOfQueue: Math.ceil(inference.queueLimit / 2) };
  const { prices, operators } = readSection(accounts(features?.usage), file, context);
  const { pricedAs, ...models } = modelSettings(file, variable);
  const core = {
    ...serverSettings(environment),
    ...storageSettings(environment),
    ...modelFileSettings(environment),
    ...inferenceSettings(inference, environment),
    tracing: tracingSettings(environment),
    http: readSection(HTTP, file, context),
    rateLimits: rateLimits(readSection(RATE_LIMITS, file, context)),
    apiKeys: parseApiKeys(API_KEYS.read(environment)),
    operators,
    /** Plugins to load; undefined means all. */
    plugins: parsePlugins(PLUGINS.read(environment)),
    ...models,
    /** Prices; calls without a price are free. */
    prices: parsePrices(prices, file.path, models.modelIds, pricedAs),
    lexicon: readSection(LEXICON, file, context).entries,
    codeInterpreter: codeInterpreterSettings(readSection(CODE_INTERPRETER, file, context)),
    webSearch: webSearchSettings(readSection(WEB_SEARCH, file, context)),
    limits: coreLimits(readSection(LIMITS, file, context)),
    /** Keys of CONFIG that this version accepts without effect. */
    ignoredKeys: ignoredKeys(sections, file),
  };
  const added = [...(features?.sections ?? []), ...(extra ?? [])].map(
    (each) => [each.table, readSection(each, file, context)] as const,
  );
  // The values of a section have its type.
  return withTables(core, added) as Readonly<typeof core & TablesOf<Feature>>;
}

/** The models of the file and the default models. */
function modelSettings({ path, content }: ConfigFile, variable: (name: string) => string | undefined) {
  // The schema of the file checks that it is a table; `parseModels` checks its content.
  const models = content.models as Readonly<Record<string, unknown>> | undefined;
  const parsed = parseModels({ path, models }, variable);
  return {
    /** Ids of all models, in the order of CONFIG. */
    modelIds: parsed.ids,
    /** Ids of models with `required = true`, and of their parts: `/readyz` is 503 while one of them is unavailable. */
    requiredModels: parsed.required,
    /** What is behind each model, by id. */
    modelEngines: parsed.engines,
    /** Models that CONFIG does not define, by id: the model that each follows. */
    modelFollowers: parsed.followers,
    /** The model whose prices a model has, by id. */
    pricedAs: parsed.pricedAs,
    /** The models by task. */
    models: parsed.tables,
  };
}

/** Adds the values of the features to the tables of the core. */
function withTables(core: object, added: readonly (readonly [table: string, values: object])[]): object {
  const tables = new Map<string, unknown>(Object.entries(core));
  for (const [table, values] of added) {
    tables.set(table, Object.freeze(Object.assign({}, tables.get(table), values)));
  }
  return Object.freeze(Object.fromEntries(tables));
}

/** The registry checks the names against the available plugins. */
function parsePlugins(text: string): readonly string[] | undefined {
  if (text === 'all') return undefined;
  return text.split(',').map((item) => item.trim());
}
