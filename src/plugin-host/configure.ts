import type { AnySection } from '../config/section.ts';
import type { Slots } from '../contract/plugin.ts';
import type { Route } from '../contract/route.ts';
import type { Lifecycle, PluginDefinition, PluginParts, SharedSettings } from './define-plugin.ts';
import { PluginLifecycle } from './lifecycle.ts';
import type { AnyPlugin } from './registry.ts';

type AnyParts = Omit<PluginParts<never, unknown>, 'provides'> & { readonly provides?: Partial<Slots> };

/** A plugin with any dependencies and settings. */
export interface AnyDefinition
  extends Omit<
    PluginDefinition<keyof Slots, keyof Slots, readonly AnySection[], Route<never>>,
    'setup' | 'routes'
  > {
  readonly routes?: readonly Route<never>[] | ((settings: never) => readonly Route<never>[]);
  setup(context: {
    readonly services: Slots;
    /** Of the type that the definition has. */
    readonly settings: never;
    readonly lifecycle: Lifecycle;
  }): AnyParts | Promise<AnyParts>;
}

/**
 * A plugin for the registry, with its settings and its lifecycle.
 * @param config values of the settings of all plugins, by table.
 */
export function configured(
  { name, needs, offers = [], routes = [], tags = [], settings = [], setup }: AnyDefinition,
  config: SharedSettings,
): AnyPlugin {
  // The configuration was read with the sections of the plugin, so its tables have their types.
  const own = ownSettings(settings, config) as never;
  const list = typeof routes === 'function' ? routes(own) : routes;
  return {
    name,
    needs,
    offers,
    // Called with what `setup` returns for them.
    routes: list as readonly Route[],
    tags,
    async setup(services) {
      const lifecycle = new PluginLifecycle();
      try {
        const parts = await setup({ services, settings: own, lifecycle });
        return {
          services: parts.services,
          provides: parts.provides ?? {},
          ready: parts.ready ?? (() => ({ ready: true })),
          ...(parts.limits && { limits: parts.limits }),
          drain: (until) => lifecycle.drain(until),
          close: () => lifecycle.close(),
        };
      } catch (error) {
        await lifecycle.close();
        throw error;
      }
    },
  };
}

/** The values of the sections of a plugin, and the shared settings; nothing else, because other settings can be secret. */
function ownSettings(sections: readonly AnySection[], config: SharedSettings): SharedSettings {
  const { dataDir } = config;
  const { requestBytes, speechCharacters, speechRequestsPerOrganization, uploadsPerOrganization } =
    config.limits;
  const limits = { requestBytes, speechCharacters, speechRequestsPerOrganization, uploadsPerOrganization };
  const tables = new Map<string, object>([['limits', limits]]);
  const all = new Map<string, unknown>(Object.entries(config));
  for (const { table, settings } of sections) {
    const values = Object.entries(all.get(table) ?? {}).filter(([key]) => key in settings);
    // A plugin of another author has the table `plugin.NAME`.
    const name = table.replace(/^plugin\./, '');
    tables.set(name, Object.assign({}, tables.get(name), Object.fromEntries(values)));
  }
  return { dataDir, limits, ...Object.fromEntries(tables) };
}
