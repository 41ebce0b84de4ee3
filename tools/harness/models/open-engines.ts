import type { ServiceProvider, Slots } from '../../../src/contract/plugin.ts';
import { type EngineOptions, engineProvider } from '../../../src/engines/open-engines.ts';

export interface OpenedEngines {
  readonly slots: Partial<Slots>;
  readonly parts: ServiceProvider;
  close(): Promise<void>;
}

/** Engines that fill these slots, with their models loaded. @throws what cannot be opened, when the rest is closed. */
export async function openEngines({
  needs,
  ...options
}: EngineOptions & { readonly needs: ReadonlySet<keyof Slots> }): Promise<OpenedEngines> {
  const parts = engineProvider(options);
  try {
    return { parts, slots: await parts.provide(needs), close: () => parts.close() };
  } catch (error) {
    await parts.close();
    throw error;
  }
}
