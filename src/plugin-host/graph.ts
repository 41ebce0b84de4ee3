/** Dependency graph of plugins: selection, start order and dependants. */

import { ServiceError, StartError } from '../contract/core/error.ts';
import type { Slots } from '../contract/plugin.ts';
import type { PluginDesiredStates } from '../contract/stores/plugin-switch-store.ts';

type SlotName = keyof Slots;

/** Fields that determine the position of a plugin in the graph. */
export interface PluginNode {
  readonly name: string;
  readonly needs: readonly SlotName[];
  readonly offers: readonly SlotName[];
}

/** A set of plugins that cannot start. The message names the plugin and the missing service. */
export class RegistryError extends StartError {
  override readonly name = 'RegistryError';
}

/**
 * Returns the plugins that `PLUGINS` names, in the order of `available`; all if it is not set.
 * @throws RegistryError for an unknown name.
 */
export function selectPlugins<Plugin extends PluginNode>(
  available: readonly Plugin[],
  names: readonly string[] | undefined,
): readonly Plugin[] {
  if (names === undefined) return available;
  const known = available.map((plugin) => plugin.name);
  for (const name of names) {
    if (!known.includes(name)) {
      throw new RegistryError(
        `PLUGINS names '${name}', which is not a plugin of this build; allowed: ${known.join(', ')}.`,
      );
    }
  }
  return available.filter((plugin) => names.includes(plugin.name));
}

/**
 * Returns the start order: each plugin comes after the plugins that provide its needs. Independent plugins
 * keep their order.
 * @throws RegistryError for a need without a provider, a service with two providers, a duplicate name, or a
 *   cycle.
 */
export function startOrder<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  coreSlots: ReadonlySet<SlotName>,
): readonly Plugin[] {
  const offeredBy = offers(plugins, coreSlots);
  for (const plugin of plugins) {
    const missing = plugin.needs.find((need) => !coreSlots.has(need) && !offeredBy.has(need));
    if (missing !== undefined) {
      throw new RegistryError(
        `Plugin '${plugin.name}' needs '${missing}', which neither the core nor a loaded plugin offers. ` +
          `Load the plugin that offers it, or leave '${plugin.name}' out of PLUGINS.`,
      );
    }
  }
  const ordered: Plugin[] = [];
  const present = new Set(coreSlots);
  let waiting = [...plugins];
  while (waiting.length > 0) {
    const next = waiting.find((plugin) => plugin.needs.every((need) => present.has(need)));
    if (next === undefined) throw new RegistryError(`${cycleOf(waiting, offeredBy)}.`);
    waiting = waiting.filter((plugin) => plugin !== next);
    ordered.push(next);
    for (const offer of next.offers) present.add(offer);
  }
  return ordered;
}

/** Returns the plugins that provide a service that a plugin needs. */
export function providersOf<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  { needs }: PluginNode,
): readonly Plugin[] {
  return plugins.filter(({ offers }) => offers.some((offer) => needs.includes(offer)));
}

/** Returns the plugins that need a service that a plugin provides. */
export function dependantsOf<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  { offers }: PluginNode,
): readonly Plugin[] {
  return plugins.filter(({ needs }) => needs.some((need) => offers.includes(need)));
}

/** Whether a plugin is enabled; the default is true. */
export function isEnabled(desiredStates: PluginDesiredStates, name: string): boolean {
  return desiredStates.get(name)?.enabled !== false;
}

/**
 * Returns the names of the plugins that should run: enabled ones whose dependencies should run, too.
 * @param ordered in the order of {@link startOrder}.
 */
export function enabledPlugins(
  ordered: readonly PluginNode[],
  desiredStates: PluginDesiredStates,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const plugin of ordered) {
    const hasNeeds = providersOf(ordered, plugin).every(({ name }) => names.has(name));
    if (hasNeeds && isEnabled(desiredStates, plugin.name)) names.add(plugin.name);
  }
  return names;
}

/**
 * Rejects disabling a plugin that an enabled plugin depends on, and enabling one that depends on a disabled
 * plugin. Other plugins are never switched implicitly.
 * @throws ServiceError 409 `plugin_needed`; the message names both plugins.
 */
export function requireSwitchable(
  plugins: readonly PluginNode[],
  desiredStates: PluginDesiredStates,
  plugin: PluginNode,
  enabled: boolean,
): void {
  const neighbours = enabled ? providersOf(plugins, plugin) : dependantsOf(plugins, plugin);
  const other = neighbours.find(({ name }) => isEnabled(desiredStates, name) !== enabled);
  if (other === undefined) return;
  throw new ServiceError(
    'conflict',
    enabled
      ? `Plugin '${plugin.name}' depends on '${other.name}', which is disabled. Enable '${other.name}' first.`
      : `Plugin '${other.name}' depends on '${plugin.name}'. Disable '${other.name}' first.`,
    { code: 'plugin_needed' },
  );
}

function offers<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  coreSlots: ReadonlySet<SlotName>,
): Map<SlotName, Plugin> {
  const offeredBy = new Map<SlotName, Plugin>();
  const names = new Set<string>();
  for (const plugin of plugins) {
    if (names.has(plugin.name)) throw new RegistryError(`Two plugins are named '${plugin.name}'.`);
    names.add(plugin.name);
    for (const offer of plugin.offers) {
      const other = coreSlots.has(offer) ? 'the core' : offeredBy.get(offer)?.name;
      if (other !== undefined) {
        throw new RegistryError(`Plugin '${plugin.name}' offers '${offer}', which ${other} offers already.`);
      }
      offeredBy.set(offer, plugin);
    }
  }
  return offeredBy;
}

/** Describes one cycle of dependencies. */
function cycleOf(waiting: readonly PluginNode[], offeredBy: ReadonlyMap<SlotName, PluginNode>): string {
  const steps: string[] = [];
  const seen = new Set<PluginNode>();
  let plugin = waiting[0];
  while (plugin !== undefined && !seen.has(plugin)) {
    seen.add(plugin);
    const need = plugin.needs.find((slot) => waiting.some((other) => other === offeredBy.get(slot)));
    if (need === undefined) break;
    steps.push(`'${plugin.name}' needs '${need}' of '${offeredBy.get(need)?.name}'`);
    plugin = offeredBy.get(need);
  }
  return `Plugins depend on each other: ${steps.join(', ')}`;
}
