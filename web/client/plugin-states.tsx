import { createContext, type ReactNode, useContext } from 'react';
import { useSession } from './session.tsx';
import { type Loaded, useLoad } from './use-load.ts';

export type PluginState = 'on' | 'starting' | 'stopping' | 'off' | 'failed';

/** One of `GET /v1/plugins`. */
export interface PluginInfo {
  readonly object: 'plugin';
  readonly name: string;
  /** What is wanted; `state` follows it. */
  readonly enabled: boolean;
  readonly state: PluginState;
  /** In words, why it is so. */
  readonly detail?: string;
  readonly routes: readonly string[];
  /** False when the service was started without it. */
  readonly switchable: boolean;
  /** Names of plugins without which it cannot be on, and of those that cannot without it. */
  readonly needs: readonly string[];
  readonly needed_by: readonly string[];
}

const Plugins = createContext<Loaded<readonly PluginInfo[]> | undefined>(undefined);

const EVERY_MS = 5000;
const WHILE_CHANGING_MS = 500;

/** Asks the service what its plugins do, again and again while the console is seen. */
export function PluginStates({ children }: { readonly children: ReactNode }) {
  const { client } = useSession();
  const plugins = useLoad(
    async (signal) => (await client.list<PluginInfo>('v1/plugins', { signal })).data,
    [client],
    { everyMs: EVERY_MS, whileMs: (value) => (value?.some(isChanging) ? WHILE_CHANGING_MS : undefined) },
  );
  return <Plugins value={plugins}>{children}</Plugins>;
}

function isChanging({ state }: PluginInfo): boolean {
  return state === 'starting' || state === 'stopping';
}

/** All plugins; `value` is undefined until the service has told of them. */
export function usePlugins(): Loaded<readonly PluginInfo[]> {
  const plugins = useContext(Plugins);
  if (plugins === undefined) throw new Error('usePlugins() outside of PluginStates');
  return plugins;
}

/** One plugin; undefined while nothing is known of it. */
export function usePlugin(name: string | undefined): PluginInfo | undefined {
  return usePlugins().value?.find((plugin) => plugin.name === name);
}
