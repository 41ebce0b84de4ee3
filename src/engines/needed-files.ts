/** The files that the models of CONFIG need: entries of the model catalog, files of the hub, and files of the operator. */

import type { ModelSettings } from '../contract/core/settings.ts';
import type { HubFiles } from '../models/hub-reference.ts';
import { type CatalogEntry, entriesForEngines } from '../models/model-files.ts';
import { COMPONENTS, FAMILIES, familyOf } from './families.ts';
import {
  type AnyComponent,
  ENGINE_TASKS,
  type EngineTask,
  type ModelTables,
  type NeededFiles,
} from './family.ts';

/** A model of CONFIG. */
export interface ConfiguredModel {
  readonly id: string;
  readonly task: EngineTask;
  readonly settings: ModelSettings;
}

export function modelsOf(tables: ModelTables): ConfiguredModel[] {
  return ENGINE_TASKS.flatMap((task) => [...tables[task]].map(([id, settings]) => ({ id, task, settings })));
}

/** The files of a model. @throws StartError for unknown weights or an unknown voice. */
export function filesOf({ task, settings }: Pick<ConfiguredModel, 'task' | 'settings'>): NeededFiles {
  return familyOf(task, settings).files(settings);
}

/** The models that are loaded at the start: all except those that are loaded on demand and not required. */
export function modelsAtStart(tables: ModelTables, required: ReadonlySet<string>): ModelTables {
  const atStart = (task: EngineTask) =>
    [...tables[task]].filter(
      ([id, settings]) => required.has(id) || !familyOf(task, settings).isLoadedOnDemand?.(settings),
    );
  const kept = ENGINE_TASKS.map((task) => [task, new Map(atStart(task))]);
  return { ...tables, ...Object.fromEntries(kept) };
}

/**
 * Returns the catalog entries that the models need, and those of components that are always needed.
 * @param additional engines whose entries are needed as well.
 * @throws StartError for unknown weights or an unknown voice.
 */
export function entriesForModels(tables: ModelTables, additional: readonly string[] = []): CatalogEntry[] {
  const engines = modelsOf(tables).flatMap((model) => filesOf(model).catalog);
  return entriesForEngines([...engines, ...enginesOf(componentsOf([])), ...additional]);
}

/** Returns the files of the model hub that the models need. */
export function hubFilesForModels(tables: ModelTables): HubFiles[] {
  const needed = new Map<string, HubFiles>();
  for (const model of modelsOf(tables)) {
    const { weights, hub } = filesOf(model).outside ?? {};
    if (hub !== undefined) needed.set(`${model.settings.kind} ${weights}`, hub);
  }
  return [...needed.values()];
}

/** The files of weights that CONFIG does not name; undefined for an unknown name. */
export function filesNamed(name: string): NeededFiles | undefined {
  return FAMILIES.map((family) => family.filesNamed?.(name)).find((files) => files !== undefined);
}

/** The components whose files are needed. @param plugins loaded plugins; undefined: all. */
export function componentsOf(plugins: readonly string[] | undefined): AnyComponent[] {
  return COMPONENTS.filter(
    ({ plugin }) => plugin === undefined || plugins === undefined || plugins.includes(plugin),
  );
}

/** Returns the engines that the loaded plugins need in addition to CONFIG. @param plugins undefined: all. */
export function enginesOfPlugins(plugins: readonly string[] | undefined): string[] {
  return enginesOf(componentsOf(plugins).filter(({ plugin }) => plugin !== undefined));
}

function enginesOf(components: readonly AnyComponent[]): string[] {
  return components.flatMap(({ catalog = [] }) => catalog);
}
