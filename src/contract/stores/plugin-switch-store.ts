/**
 * Desired states of plugins. They are stored, so that every process of a deployment applies them, also after
 * a restart.
 */

/** Desired state of a plugin. A plugin without a stored state is enabled. */
export interface PluginDesiredState {
  readonly enabled: boolean;
  /** Increases with each change of this plugin, including one that sets the same state. */
  readonly revision: number;
  /** Unix seconds. */
  readonly changedAt: number;
}

/** Desired states by plugin name. */
export type PluginDesiredStates = ReadonlyMap<string, PluginDesiredState>;

export interface PluginSwitchStore {
  list(): Promise<PluginDesiredStates>;
  /** Stores a desired state; the latest one applies. */
  setEnabled(plugin: string, enabled: boolean): Promise<void>;
}
