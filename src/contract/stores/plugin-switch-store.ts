/** Which plugins are wished on and off: a record, so that every process of a deployment follows it, after a restart too. */

/** What somebody wished of a plugin; of one that nobody ever switched there is none, and it is on. */
export interface PluginDesiredState {
  readonly enabled: boolean;
  /** Grows with every wish of this plugin, one that changes nothing too. */
  readonly revision: number;
  /** Unix seconds. */
  readonly changedAt: number;
}

/** By name of the plugin. */
export type PluginDesiredStates = ReadonlyMap<string, PluginDesiredState>;

export interface PluginSwitchStore {
  list(): Promise<PluginDesiredStates>;
  /** Stores a wish; the latest counts. */
  setEnabled(plugin: string, enabled: boolean): Promise<void>;
}
