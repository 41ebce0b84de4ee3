import type { AnyElysia } from 'elysia';
import type { ReadyReport } from './contract/engine.ts';
import { StartError } from './contract/error.ts';
import type { Logger } from './contract/logger.ts';
import type { PluginInstance, Slots } from './contract/plugin.ts';
import { aborted } from './kit/aborted.ts';

type SlotName = keyof Slots;

/** Any feature plugin, whatever it needs and offers. */
export interface AnyPlugin {
  readonly name: string;
  readonly needs: readonly SlotName[];
  readonly offers: readonly SlotName[];
  setup(slots: Slots): Promise<AnyInstance>;
}

type AnyInstance = Omit<PluginInstance, 'provides'> & { readonly provides: Partial<Slots> };

/** A set of plugins that cannot start. The message names the plugin and what it lacks. */
export class RegistryError extends StartError {
  override readonly name = 'RegistryError';
}

/** The plugins that were started. */
export interface Registry {
  readonly names: readonly string[];
  readonly routes: readonly AnyElysia[];
  /** State of each plugin, for `/readyz`. */
  readiness(): ReadonlyMap<string, ReadyReport>;
  /** Drains all plugins at once; resolves when all are done or the signal fires. Never rejects. */
  drain(until: AbortSignal): Promise<void>;
  /** Closes in reverse order of start. Idempotent; never rejects, failures are logged. */
  close(): Promise<void>;
}

/**
 * The plugins that `PLUGINS` names, in the order of `available`; all when it names none.
 * @throws RegistryError for a name that no plugin has.
 */
export function selectPlugins(
  available: readonly AnyPlugin[],
  names: readonly string[] | undefined,
): readonly AnyPlugin[] {
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
export function startOrder(
  plugins: readonly AnyPlugin[],
  coreSlots: ReadonlySet<SlotName>,
): readonly AnyPlugin[] {
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
  const ordered: AnyPlugin[] = [];
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

function offers(plugins: readonly AnyPlugin[], coreSlots: ReadonlySet<SlotName>): Map<SlotName, AnyPlugin> {
  const offeredBy = new Map<SlotName, AnyPlugin>();
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
function cycleOf(waiting: readonly AnyPlugin[], offeredBy: ReadonlyMap<SlotName, AnyPlugin>): string {
  const steps: string[] = [];
  const seen = new Set<AnyPlugin>();
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

/**
 * Starts plugins in dependency order, each with the slots it asked for and a log of its own.
 * When one fails, those already started are closed before the failure is thrown.
 */
export async function startPlugins(
  plugins: readonly AnyPlugin[],
  core: Partial<Slots>,
  log: Logger,
): Promise<Registry> {
  const slots: Partial<Slots> = { ...core };
  const coreSlots = new Set(Object.keys(core) as SlotName[]);
  const started: { name: string; instance: AnyInstance }[] = [];
  const registry = registryOf(started, log);
  for (const plugin of startOrder(plugins, coreSlots)) {
    try {
      const instance = await plugin.setup(slotsFor(plugin, slots, log));
      started.push({ name: plugin.name, instance });
      fill(slots, plugin, instance);
    } catch (error) {
      await registry.close();
      throw error;
    }
  }
  return registry;
}

/** Only what the plugin asked for, so that a need it forgot to name shows at once. */
function slotsFor(plugin: AnyPlugin, slots: Partial<Slots>, log: Logger): Slots {
  const entries = plugin.needs.map((need) => [
    need,
    need === 'log' ? log.child({ plugin: plugin.name }) : slots[need],
  ]);
  return Object.fromEntries(entries) as Slots;
}

function fill(slots: Partial<Slots>, plugin: AnyPlugin, instance: AnyInstance): void {
  for (const offer of plugin.offers) {
    if (instance.provides[offer] === undefined) {
      throw new RegistryError(`Plugin '${plugin.name}' offers '${offer}' but does not provide it.`);
    }
    Object.assign(slots, { [offer]: instance.provides[offer] });
  }
}

function registryOf(started: readonly { name: string; instance: AnyInstance }[], log: Logger): Registry {
  let closing: Promise<void> | undefined;
  return {
    get names() {
      return started.map(({ name }) => name);
    },
    get routes() {
      return started.flatMap(({ instance }) => instance.routes ?? []);
    },
    readiness: () => new Map(started.map(({ name, instance }) => [name, readyOf(instance)])),
    async drain(until) {
      const all = started.map(async ({ name, instance }) => {
        try {
          await instance.drain(until);
        } catch (error) {
          log.error('plugin failed to drain', error, { plugin: name });
        }
      });
      await Promise.race([Promise.all(all), aborted(until)]);
    },
    close() {
      closing ??= closeAll(started, log);
      return closing;
    },
  };
}

async function closeAll(
  started: readonly { name: string; instance: AnyInstance }[],
  log: Logger,
): Promise<void> {
  for (const { name, instance } of started.toReversed()) {
    try {
      await instance.close();
    } catch (error) {
      log.error('plugin failed to close', error, { plugin: name });
    }
  }
}

/** A plugin whose report throws is not ready, and the others still report. */
function readyOf(instance: AnyInstance): ReadyReport {
  try {
    return instance.ready();
  } catch {
    return { ready: false, detail: 'its state could not be read' };
  }
}
