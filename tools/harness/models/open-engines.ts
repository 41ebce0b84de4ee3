import type { ServiceProvider, Slots } from '../../../src/contract/plugin.ts';
import { type EngineOptions, engineProvider } from '../../../src/engines/open-engines.ts';

export interface OpenedEngines {
  readonly slots: Partial<Slots>;
  readonly parts: ServiceProvider;
  close(): Promise<void>;
}

/** Opens the engines of these slots and loads their models. @throws the error of an engine, after closing the others. */
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
