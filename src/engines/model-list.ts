/** Describes the model files that the service can use, for `bun run models list` and for `GET /v1/models`. */

import { statSync } from 'node:fs';
import { type HubFiles, hubRecord, piperLicence, resolveHubFiles } from '../../models/hub-reference.ts';
import { type CatalogEntry, catalog, resolveModelFiles } from '../../models/model-files.ts';
import type { ConfiguredModels, EmbeddedTextSettings } from '../contract/core/settings.ts';
import type { ModelFiles } from '../contract/model-table.ts';
import { enginesOfPlugins, entriesForModels, outsideCatalog } from './embedded-models.ts';
import { readGgufMetadata } from './llama/shared/gguf-metadata.ts';
import { kvCacheBytes } from './llama/shared/kv-cache.ts';
import { llamaFile } from './llama/shared/model-file.ts';

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
  models: ConfiguredModels,
  plugins: readonly string[] | undefined,
  modelsDir: string,
): Promise<ListedFiles[]> {
  const users = usersOfEntries(models, plugins);
  const entries = catalog.map((entry) => describeEntry(entry, users.get(entry.id) ?? [], models, modelsDir));
  const others = weightsOutsideCatalog(models).map((weights) => describeOther(weights, models, modelsDir));
  return await Promise.all([...entries, ...others]);
}

/** The files of each model id of CONFIG; models of other servers are absent. */
export async function modelFilesById(
  models: ConfiguredModels,
  plugins: readonly string[] | undefined,
  modelsDir: string,
): Promise<ReadonlyMap<string, ModelFiles>> {
  const listed = await describeModels(models, plugins, modelsDir);
  const ids = Object.values(models).flatMap((table) => [...table.keys()]);
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

/** Components that use the models that CONFIG does not name, by the role of the entry. */
const DETECTOR_USERS: Readonly<Record<string, string>> = {
  vad: 'voice activity detection',
  'turn-end': 'end-of-turn detection',
};

/** Names of what needs each entry, by entry id. */
function usersOfEntries(
  models: ConfiguredModels,
  plugins: readonly string[] | undefined,
): ReadonlyMap<string, string[]> {
  const none: ConfiguredModels = { tts: new Map(), stt: new Map(), text: new Map(), embed: new Map() };
  const detectors = entriesForModels(none);
  const users = new Map(detectors.map(({ id, role }) => [id, [DETECTOR_USERS[role] ?? role]]));
  const add = (entries: readonly CatalogEntry[], user: string) => {
    for (const { id } of entries) {
      if (!detectors.some((entry) => entry.id === id)) users.set(id, [...(users.get(id) ?? []), user]);
    }
  };
  for (const [task, table] of Object.entries(models)) {
    for (const [id, settings] of table)
      add(entriesForModels({ ...none, [task]: new Map([[id, settings]]) }), id);
  }
  add(entriesForModels(none, enginesOfPlugins(plugins)), 'stored voices');
  return users;
}

async function describeEntry(
  { id, licence, files, upstream }: CatalogEntry,
  usedBy: readonly string[],
  models: ConfiguredModels,
  modelsDir: string,
): Promise<ListedFiles> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const users = [...models.text].filter(([model]) => usedBy.includes(model)).map(([, settings]) => settings);
  return {
    id,
    licence,
    bytes,
    usedBy,
    source: `${upstream.name} (${upstream.home})`,
    isOnDisk: isInCache(id, modelsDir),
    memoryBytes: await memoryOf(users.find(isEmbedded), bytes, modelsDir),
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

function isEmbedded(settings: { readonly kind: string }): settings is EmbeddedTextSettings {
  return settings.kind === 'llama';
}

/** Weights of embedded models that are files of the hub or of the operator. */
function weightsOutsideCatalog({ tts, stt, text }: ConfiguredModels): string[] {
  const all = [...tts.values(), ...stt.values(), ...text.values()];
  return [...new Set(all.flatMap((settings) => outsideCatalog(settings)?.weights ?? []))];
}

async function describeOther(
  weights: string,
  { tts, stt, text }: ConfiguredModels,
  modelsDir: string,
): Promise<ListedFiles> {
  const users = [...tts, ...stt, ...text].filter(
    ([, settings]) => outsideCatalog(settings)?.weights === weights,
  );
  const usedBy = users.map(([id]) => id);
  const all = users.map(([, settings]) => settings);
  const language = all.find((settings) => settings.kind === 'llama');
  const hub = all.map((settings) => outsideCatalog(settings)?.hub).find((files) => files !== undefined);
  const bytes =
    hub === undefined ? statSync(weights, { throwIfNoEntry: false })?.size : hubBytes(hub, modelsDir);
  return {
    id: weights,
    licence: hub && piperLicence(modelsDir, hub),
    bytes,
    usedBy,
    source: hub === undefined ? 'a file of this machine' : `repository ${hub.repository}`,
    isOnDisk: hub === undefined ? bytes !== undefined : resolveHubFiles(modelsDir, hub) !== undefined,
    memoryBytes: await memoryOf(language, bytes, modelsDir),
  };
}

function hubBytes({ repository, paths }: HubFiles, modelsDir: string): number | undefined {
  const records = paths.map((path) => hubRecord(modelsDir, repository, path));
  if (records.includes(undefined)) return undefined;
  return records.reduce((sum, record) => sum + (record?.bytes ?? 0), 0);
}

async function memoryOf(
  settings: EmbeddedTextSettings | undefined,
  bytes: number | undefined,
  modelsDir: string,
): Promise<ListedFiles['memoryBytes']> {
  if (settings === undefined || bytes === undefined) return undefined;
  const { weights, contextTokens, slots } = settings;
  try {
    const metadata = await readGgufMetadata(llamaFile(weights, modelsDir));
    const cacheBytes = kvCacheBytes(metadata, contextTokens, slots);
    return cacheBytes === undefined ? [bytes] : [bytes, cacheBytes];
  } catch {
    // Not on disk, or damaged.
    return [bytes];
  }
}
