import type { AnySection } from '../src/config/section.ts';
import { StartError } from '../src/contract/core/error.ts';
import { isRecord } from '../src/kit/validation/is-record.ts';
import type { AnyDefinition } from '../src/plugin-host/configure.ts';
import * as api from '../src/plugin-host/plugin-api.ts';

/** Also the name of the folder, of the table of settings and of the plugin in `/v1/plugins/{name}`. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * Imports plugins of other authors. They import `voice-service/plugin`, wherever they are.
 * @param wanted paths of files and folders and names of packages, and the folder from which they are resolved.
 * @param taken names of the plugins of this build.
 * @returns their definitions; their settings are in the tables `plugin.NAME`.
 * @throws StartError for a plugin that cannot be imported, or that is not one.
 */
export async function loadExtraPlugins(
  { names, folder }: { readonly names: readonly string[]; readonly folder: string },
  taken: readonly string[],
): Promise<readonly AnyDefinition[]> {
  if (names.length > 0) provideApi();
  const loaded: AnyDefinition[] = [];
  for (const name of names) {
    const definition = await importPlugin(name, folder);
    const problem = problemOf(definition, [...taken, ...loaded.map((each) => each.name)]);
    if (problem !== undefined) {
      throw new StartError(
        `Plugin '${name}' of [plugins] extra: its default export must be the result of definePlugin(): ${problem}.`,
      );
    }
    loaded.push(withOwnTable(definition as AnyDefinition));
  }
  return loaded;
}

function provideApi(): void {
  Bun.plugin({
    name: 'voice-service',
    setup: ({ module }) =>
      void module('voice-service/plugin', () => ({ exports: api, loader: 'object' as const })),
  });
}

async function importPlugin(name: string, folder: string): Promise<unknown> {
  try {
    const module: unknown = await import(Bun.resolveSync(name, folder));
    return isRecord(module) ? module.default : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`Plugin '${name}' of [plugins] extra cannot be imported: ${reason}`);
  }
}

/** What is wrong with a definition, for its author; undefined for a valid one. */
function problemOf(definition: unknown, taken: readonly string[]): string | undefined {
  if (!isRecord(definition)) return 'it is missing';
  const { name, needs, offers = [], tags = [], usage = [], settings = [], routes = [], setup } = definition;
  if (typeof name !== 'string' || !NAME.test(name)) return `'name' must match ${NAME.source}`;
  if (taken.includes(name)) return `'name' must not be '${name}', which is another plugin`;
  const lists = { needs, offers, tags, usage, settings };
  const other = Object.entries(lists).find(([, value]) => !Array.isArray(value));
  if (other !== undefined) return `'${other[0]}' must be a list`;
  if (!Array.isArray(routes) && typeof routes !== 'function') return "'routes' must be a list or a function";
  if (typeof setup !== 'function') return "'setup' must be a function";
  const isOwn = (section: unknown) => isRecord(section) && section.table === name;
  if (Array.isArray(settings) && !settings.every(isOwn)) {
    return `'settings' must be sections of the table '${name}'`;
  }
  return undefined;
}

function withOwnTable(definition: AnyDefinition): AnyDefinition {
  const { name, settings = [] } = definition;
  const own = settings.map((section): AnySection => ({ ...section, table: `plugin.${name}` }));
  return { ...definition, settings: own };
}
