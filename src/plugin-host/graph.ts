/** Plugins by needs and offers: which there are, in what order they start, and which cannot do without which. */

import { ServiceError, StartError } from '../contract/core/error.ts';
import type { Slots } from '../contract/plugin.ts';
import type { PluginDesiredStates } from '../contract/stores/plugin-switch-store.ts';

type SlotName = keyof Slots;

/** What decides about a plugin's place. */
export interface PluginNode {
  readonly name: string;
  readonly needs: readonly SlotName[];
  readonly offers: readonly SlotName[];
}

/** A set of plugins that cannot start. The message names the plugin and what it lacks. */
export class RegistryError extends StartError {
  override readonly name = 'RegistryError';
}

/**
 * The plugins that `PLUGINS` names, in the order of `available`; all when it names none.
 * @throws RegistryError for a name that no plugin has.
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
        `PLUGINS names '${name}', which is no plugin of this build; allowed: ${known.join(', ')}.`,
      );
    }
  }
  return available.filter((plugin) => names.includes(plugin.name));
}

/**
 * An order in which every plugin finds its needs among the core's slots and the offers of plugins before
 * it. Plugins that do not depend on each other keep their given order.
 * @throws RegistryError for a need that nobody offers, a slot offered twice, a name given twice, a cycle.
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

/** Plugins of which one needs an offer. */
export function providersOf<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  { needs }: PluginNode,
): readonly Plugin[] {
  return plugins.filter(({ offers }) => offers.some((offer) => needs.includes(offer)));
}

/** Plugins that need an offer of one. */
export function dependantsOf<Plugin extends PluginNode>(
  plugins: readonly Plugin[],
  { offers }: PluginNode,
): readonly Plugin[] {
  return plugins.filter(({ needs }) => needs.some((need) => offers.includes(need)));
}

/** Whether a plugin is wished on; one that nobody ever switched is. */
export function isEnabled(wishes: PluginDesiredStates, name: string): boolean {
  return wishes.get(name)?.enabled !== false;
}

/**
 * Names of the plugins that are to be on: those that are wished on, without those that need one that is not.
 * @param ordered as {@link startOrder} gives them.
 */
export function enabledPlugins(ordered: readonly PluginNode[], wishes: PluginDesiredStates): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const plugin of ordered) {
    const hasNeeds = providersOf(ordered, plugin).every(({ name }) => wanted.has(name));
    if (hasNeeds && isEnabled(wishes, plugin.name)) wanted.add(plugin.name);
  }
  return wanted;
}

/**
 * Refuses to switch a plugin off that another one which is on needs, and one on that needs another one which is off: nobody
 * loses a feature that he did not name.
 * @throws ServiceError 409 `plugin_needed`; the message names both.
 */
export function requireSwitchable(
  plugins: readonly PluginNode[],
  wishes: PluginDesiredStates,
  plugin: PluginNode,
  enabled: boolean,
): void {
  const neighbours = enabled ? providersOf(plugins, plugin) : dependantsOf(plugins, plugin);
  const other = neighbours.find(({ name }) => isEnabled(wishes, name) !== enabled);
  if (other === undefined) return;
  throw new ServiceError(
    'conflict',
    enabled
      ? `Plugin '${plugin.name}' needs '${other.name}', which is switched off: switch '${other.name}' on first.`
      : `Plugin '${other.name}' needs '${plugin.name}': switch '${other.name}' off first.`,
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

/** Describes one cycle among plugins that all wait for each other. */
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
  return `Plugins wait for each other: ${steps.join(', ')}`;
}
