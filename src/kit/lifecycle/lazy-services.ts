import { shuttingDown } from '../../contract/core/error.ts';
import type { ServiceProvider, Slots } from '../../contract/plugin.ts';

type SlotName = keyof Slots;

/** An open service and its close function. */
export interface ServiceHandle<Value> {
  readonly value: Value;
  close(): Promise<void>;
}

/** Factories of services, in the order in which they are opened. */
export type ServiceFactories = {
  readonly [Name in SlotName]?: () => ServiceHandle<Slots[Name]> | Promise<ServiceHandle<Slots[Name]>>;
};

/** Returns the handle of a service that closes itself or needs no close. */
export function serviceHandle<Value extends object>(
  value: Value & { close?(): Promise<void> },
): ServiceHandle<Value> {
  return { value, close: async () => value.close?.() };
}

/** Services that are opened when needed, independently of each other. */
export class LazyServices implements ServiceProvider {
  readonly slotNames: ReadonlySet<SlotName>;
  readonly #openers: ServiceFactories;
  /** In the order of opening. */
  readonly #open = new Map<SlotName, ServiceHandle<unknown>>();
  #closed = false;

  constructor(openers: ServiceFactories) {
    this.slotNames = new Set(Object.keys(openers) as SlotName[]);
    this.#openers = openers;
  }

  async provide(needs: ReadonlySet<SlotName>): Promise<Partial<Slots>> {
    await this.closeExcept(needs);
    for (const [name, open] of Object.entries(this.#openers) as [SlotName, () => ServiceHandle<unknown>][]) {
      if (!needs.has(name) || this.#open.has(name)) continue;
      const opened = await open();
      if (this.#closed) {
        await opened.close();
        throw shuttingDown();
      }
      this.#open.set(name, opened);
    }
    return Object.fromEntries([...this.#open].map(([name, { value }]) => [name, value]));
  }

  /** Closes the services that are not in `names`, newest first. */
  async closeExcept(names: ReadonlySet<SlotName>): Promise<void> {
    const closing = new AsyncDisposableStack();
    for (const [name, { close }] of this.#open) {
      if (names.has(name)) continue;
      // Removed first: a service that failed to close must not be used.
      this.#open.delete(name);
      closing.defer(close);
    }
    await closing.disposeAsync();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.closeExcept(new Set());
  }
}

/** Combines providers; if two provide the same service, the later one is used. */
export function combineProviders(all: readonly ServiceProvider[]): ServiceProvider {
  return {
    slotNames: new Set(all.flatMap(({ slotNames: fills }) => [...fills])),
    async provide(needs) {
      const slots: Partial<Slots> = {};
      for (const each of all) Object.assign(slots, await each.provide(needs));
      return slots;
    },
    async close() {
      for (const each of all.toReversed()) await each.close();
    },
  };
}
