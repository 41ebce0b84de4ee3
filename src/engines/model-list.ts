/** Describes the model files that the service can use, for `bun run models list` and for `GET /v1/models`. */

import { statSync } from 'node:fs';
import type { ModelFiles } from '../contract/model-table.ts';
import { type HubFiles, hubLicence, hubRecord, resolveHubFiles } from '../models/hub-reference.ts';
import { type CatalogEntry, catalog, entriesForEngines, resolveModelFiles } from '../models/model-files.ts';
import { familyOf } from './families.ts';
import type { ModelTables } from './family.ts';
import { type ConfiguredModel, componentsOf, filesOf, modelsOf } from './needed-files.ts';

/** A catalog entry, a repository of the model hub, or a file of the operator. */
export interface ListedFiles {
  /** Catalog id, or `weights` of CONFIG. */
  readonly id: string;
  /** Origin of the files. */
  readonly source: string;
  /** Undefined until files of the hub have been downloaded. */
  readonly bytes: number | undefined;
  /** Undefined if only the origin knows it. */
  readonly licence: string | undefined;
  /** Model ids of CONFIG, and names of components. */
  readonly usedBy: readonly string[];
  readonly isOnDisk: boolean;
  /** Memory of a loaded language model: weights, and the key-value cache if the file is on disk. */
  readonly memoryBytes: readonly number[] | undefined;
}

/** @param plugins undefined: all. */
export async function describeModels(
  tables: ModelTables,
  plugins: readonly string[] | undefined,
  modelsDir: string,
): Promise<ListedFiles[]> {
  const models = modelsOf(tables);
  const users = usersOfEntries(models, plugins);
  const entries = catalog.map((entry) => describeEntry(entry, users.get(entry.id) ?? [], models, modelsDir));
  const outside = models
    .map((model) => filesOf(model).outside?.weights)
    .filter((weights) => weights !== undefined);
  const others = [...new Set(outside)].map((weights) => describeOther(weights, models, modelsDir));
  return await Promise.all([...entries, ...others]);
}

/** The files of each model id of CONFIG; models of other servers are absent. */
export async function modelFilesById(
  tables: ModelTables,
  plugins: readonly string[] | undefined,
  modelsDir: string,
): Promise<ReadonlyMap<string, ModelFiles>> {
  const listed = await describeModels(tables, plugins, modelsDir);
  const ids = modelsOf(tables).map(({ id }) => id);
  const pairs = ids.map((id) => [id, listed.filter(({ usedBy }) => usedBy.includes(id))] as const);
  return new Map(pairs.filter(([, files]) => files.length > 0).map(([id, files]) => [id, combined(files)]));
}

function combined(files: readonly ListedFiles[]): ModelFiles {
  const sizeBytes = sumOf(files.map(({ bytes }) => bytes));
  const licences = files.flatMap(({ licence }) => licence?.split(' AND ') ?? []);
  const memoryBytes = sumOf(files.flatMap((each) => each.memoryBytes ?? []));
  return {
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(licences.length > 0 && { licence: [...new Set(licences)].join(' AND ') }),
    ...(memoryBytes !== undefined && memoryBytes > 0 && { memoryBytes }),
  };
}

/** Undefined if a part is unknown. */
function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  return parts.reduce<number | undefined>(
    (sum, part) => (sum === undefined || part === undefined ? undefined : sum + part),
    0,
  );
}

/** Names of what needs each entry, by entry id. */
function usersOfEntries(
  models: readonly ConfiguredModel[],
  plugins: readonly string[] | undefined,
): ReadonlyMap<string, string[]> {
  const users = new Map<string, string[]>();
  const add = (engines: readonly string[], user: string) => {
    for (const { id } of entriesForEngines(engines)) {
      const known = users.get(id) ?? [];
      if (!known.includes(user)) users.set(id, [...known, user]);
    }
  };
  for (const model of models) add(filesOf(model).catalog, model.id);
  for (const { catalog: engines = [], purpose } of componentsOf(plugins)) add(engines, purpose);
  return users;
}

async function describeEntry(
  { id, licence, files, upstream }: CatalogEntry,
  usedBy: readonly string[],
  models: readonly ConfiguredModel[],
  modelsDir: string,
): Promise<ListedFiles> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const users = models.filter((model) => usedBy.includes(model.id));
  return {
    id,
    licence,
    bytes,
    usedBy,
    source: `${upstream.name} (${upstream.home})`,
    isOnDisk: isInCache(id, modelsDir),
    memoryBytes: await memoryOf(users, bytes, modelsDir),
  };
}

function isInCache(id: string, modelsDir: string): boolean {
  try {
    resolveModelFiles(modelsDir, id);
    return true;
  } catch {
    return false;
  }
}

async function describeOther(
  weights: string,
  models: readonly ConfiguredModel[],
  modelsDir: string,
): Promise<ListedFiles> {
  const users = models.filter((model) => filesOf(model).outside?.weights === weights);
  const usedBy = users.map(({ id }) => id);
  const hub = users.map((model) => filesOf(model).outside?.hub).find((files) => files !== undefined);
  const bytes =
    hub === undefined ? statSync(weights, { throwIfNoEntry: false })?.size : hubBytes(hub, modelsDir);
  return {
    id: weights,
    licence: hub && hubLicence(modelsDir, hub),
    bytes,
    usedBy,
    source: hub === undefined ? 'a file of this machine' : `repository ${hub.repository}`,
    isOnDisk: hub === undefined ? bytes !== undefined : resolveHubFiles(modelsDir, hub) !== undefined,
    memoryBytes: await memoryOf(users, bytes, modelsDir),
  };
}

function hubBytes({ repository, paths }: HubFiles, modelsDir: string): number | undefined {
  const records = paths.map((path) => hubRecord(modelsDir, repository, path));
  if (records.includes(undefined)) return undefined;
  return records.reduce((sum, record) => sum + (record?.bytes ?? 0), 0);
}

/** Memory of the first of the models whose family knows it. */
async function memoryOf(
  users: readonly ConfiguredModel[],
  bytes: number | undefined,
  modelsDir: string,
): Promise<ListedFiles['memoryBytes']> {
  if (bytes === undefined) return undefined;
  for (const { task, settings } of users) {
    const { memory } = familyOf(task, settings);
    if (memory !== undefined) return await memory(settings, bytes, modelsDir);
  }
  return undefined;
}
