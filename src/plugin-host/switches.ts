import { ServiceError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { PluginSwitchStore } from '../contract/stores/plugin-switch-store.ts';
import type { PluginStatus, PluginSwitches } from '../http/routes/plugins.ts';
import { IntervalTask } from '../kit/async/interval-task.ts';
import { dependantsOf, isEnabled, providersOf, requireSwitchable } from './graph.ts';
import { type AnyPlugin, pathsOf, type Registry } from './registry.ts';

const POLL_INTERVAL_MS = 1000;

export interface StoredSwitchesDeps {
  /** Every plugin of the build. */
  readonly available: readonly AnyPlugin[];
  /** Plugins that PLUGINS loads. */
  readonly registry: Pick<Registry, 'plugins' | 'report' | 'applyDesiredStates'>;
  readonly store: PluginSwitchStore;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/**
 * Enables and disables plugins: the desired state is stored, and every process applies it. The owner closes
 * it.
 */
export class StoredSwitches implements PluginSwitches {
  readonly #deps: StoredSwitchesDeps;
  readonly #polling: IntervalTask;
  /** Whether the last poll of the store failed, so that the failure is logged only once. */
  #isFailing = false;

  constructor(deps: StoredSwitchesDeps) {
    this.#deps = deps;
    this.#polling = new IntervalTask({
      intervalMs: deps.intervalMs ?? POLL_INTERVAL_MS,
      runTask: () => this.#poll(),
    });
  }

  async list(): Promise<readonly PluginStatus[]> {
    const desiredStates = await this.#deps.store.list();
    return this.#deps.available.map((plugin) =>
      this.#standing(plugin, isEnabled(desiredStates, plugin.name)),
    );
  }

  async set(name: string, enabled: boolean): Promise<PluginStatus> {
    const { available, registry, store } = this.#deps;
    const plugin = available.find((each) => each.name === name);
    if (plugin === undefined) {
      const names = available.map((each) => each.name).join(', ');
      throw new ServiceError('not_found', `Unknown plugin; allowed: ${names}.`, { param: 'name' });
    }
    if (!registry.plugins.includes(plugin)) {
      throw new ServiceError(
        'conflict',
        `PLUGINS excludes '${name}' from this process. It cannot be enabled or disabled at runtime.`,
        { code: 'plugin_not_loaded' },
      );
    }
    requireSwitchable(registry.plugins, await store.list(), plugin, enabled);
    await store.setEnabled(name, enabled);
    registry.applyDesiredStates(await store.list());
    return this.#standing(plugin, enabled);
  }

  /** Stops polling. Idempotent. */
  close(): Promise<void> {
    return this.#polling.close();
  }

  async #poll(): Promise<void> {
    const { store, registry, log } = this.#deps;
    try {
      registry.applyDesiredStates(await store.list());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.error('desired plugin states could not be read', error);
      this.#isFailing = true;
    }
  }

  #standing(plugin: AnyPlugin, isOn: boolean): PluginStatus {
    const { registry } = this.#deps;
    const { name } = plugin;
    const switchable = registry.plugins.includes(plugin);
    return {
      name,
      enabled: switchable && isOn,
      ...(switchable ? registry.report(name) : { state: 'off' as const }),
      switchable,
      paths: pathsOf(plugin),
      needs: providersOf(registry.plugins, plugin).map((each) => each.name),
      neededBy: dependantsOf(registry.plugins, plugin).map((each) => each.name),
    };
  }
}
