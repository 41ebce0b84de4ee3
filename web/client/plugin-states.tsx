import { createContext, type ReactNode, useContext } from 'react';
import { useSession } from './session.tsx';
import { type Loaded, useLoad } from './use-load.ts';

export type PluginState = 'on' | 'starting' | 'stopping' | 'off' | 'failed';

/** An item of `GET /v1/plugins`. */
export interface PluginInfo {
  readonly object: 'plugin';
  readonly name: string;
  /** Desired state; `state` follows it. */
  readonly enabled: boolean;
  readonly state: PluginState;
  /** Human-readable reason for the state. */
  readonly detail?: string;
  readonly routes: readonly string[];
  /** False if the plugin is excluded by the PLUGINS setting. */
  readonly switchable: boolean;
  /** Plugins that this one depends on, and plugins that depend on this one. */
  readonly needs: readonly string[];
  readonly needed_by: readonly string[];
}

const Plugins = createContext<Loaded<readonly PluginInfo[]> | undefined>(undefined);

const INTERVAL_MS = 5000;
const CHANGING_INTERVAL_MS = 500;

/** Polls the plugin states while the console is visible. */
export function PluginStates({ children }: { readonly children: ReactNode }) {
  const { client } = useSession();
  const plugins = useLoad(
    async (signal) => (await client.list<PluginInfo>('v1/plugins', { signal })).data,
    [client],
    {
      intervalMs: INTERVAL_MS,
      dynamicIntervalMs: (value) => (value?.some(isChanging) ? CHANGING_INTERVAL_MS : undefined),
    },
  );
  return <Plugins value={plugins}>{children}</Plugins>;
}

function isChanging({ state }: PluginInfo): boolean {
  return state === 'starting' || state === 'stopping';
}

/** All plugins; `value` is undefined until the first response. */
export function usePlugins(): Loaded<readonly PluginInfo[]> {
  const plugins = useContext(Plugins);
  if (plugins === undefined) throw new Error('usePlugins() outside of PluginStates');
  return plugins;
}

/** One plugin; undefined until the states are loaded, or if there is none with this name. */
export function usePlugin(name: string | undefined): PluginInfo | undefined {
  return usePlugins().value?.find((plugin) => plugin.name === name);
}
