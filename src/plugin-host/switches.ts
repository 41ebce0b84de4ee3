import { ServiceError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { PluginSwitchStore } from '../contract/stores/plugin-switch-store.ts';
import type { PluginStatus, PluginSwitches } from '../http/routes/plugins.ts';
import { IntervalTask } from '../kit/async/interval-task.ts';
import { dependantsOf, isEnabled, providersOf, requireSwitchable } from './graph.ts';
import type { AnyPlugin, Registry } from './registry.ts';

const FOLLOW_EVERY_MS = 1000;

export interface StoredSwitchesDeps {
  /** Every plugin of the build. */
  readonly available: readonly AnyPlugin[];
  /** Those that PLUGINS loads. */
  readonly registry: Pick<Registry, 'plugins' | 'report' | 'applyDesiredStates'>;
  readonly store: PluginSwitchStore;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/** Switches of the plugins: a wish is stored, and every process follows what is stored. Its owner closes it. */
export class StoredSwitches implements PluginSwitches {
  readonly #parts: StoredSwitchesDeps;
  readonly #following: IntervalTask;
  /** The last look into the store failed: told once. */
  #isAway = false;

  constructor(parts: StoredSwitchesDeps) {
    this.#parts = parts;
    this.#following = new IntervalTask({
      intervalMs: parts.intervalMs ?? FOLLOW_EVERY_MS,
      runTask: () => this.#follow(),
    });
  }

  async list(): Promise<readonly PluginStatus[]> {
    const wishes = await this.#parts.store.list();
    return this.#parts.available.map((plugin) => this.#standing(plugin, isEnabled(wishes, plugin.name)));
  }

  async set(name: string, enabled: boolean): Promise<PluginStatus> {
    const { available, registry, store } = this.#parts;
    const plugin = available.find((each) => each.name === name);
    if (plugin === undefined) {
      const names = available.map((each) => each.name).join(', ');
      throw new ServiceError('not_found', `There is no such plugin; allowed: ${names}.`, { param: 'name' });
    }
    if (!registry.plugins.includes(plugin)) {
      throw new ServiceError(
        'conflict',
        `The setting PLUGINS leaves '${name}' out here: it cannot be switched while the service runs.`,
        { code: 'plugin_not_loaded' },
      );
    }
    requireSwitchable(registry.plugins, await store.list(), plugin, enabled);
    await store.setEnabled(name, enabled);
    registry.applyDesiredStates(await store.list());
    return this.#standing(plugin, enabled);
  }

  /** Follows no more. Idempotent. */
  close(): Promise<void> {
    return this.#following.close();
  }

  async #follow(): Promise<void> {
    const { store, registry, log } = this.#parts;
    try {
      registry.applyDesiredStates(await store.list());
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) log.error('the switches of plugins cannot be read', error);
      this.#isAway = true;
    }
  }

  #standing(plugin: AnyPlugin, isWishedOn: boolean): PluginStatus {
    const { registry } = this.#parts;
    const { name, paths } = plugin;
    const switchable = registry.plugins.includes(plugin);
    return {
      name,
      enabled: switchable && isWishedOn,
      ...(switchable ? registry.report(name) : { state: 'off' as const }),
      switchable,
      paths,
      needs: providersOf(registry.plugins, plugin).map((each) => each.name),
      neededBy: dependantsOf(registry.plugins, plugin).map((each) => each.name),
    };
  }
}
