/** State machine of a plugin (docs/states/plugin.md). Pure: the registry executes the moves. */

import { dependantsOf, type PluginNode, providersOf } from './graph.ts';

export const PLUGIN_STATES = ['off', 'starting', 'on', 'stopping', 'failed'] as const;
export type PluginState = (typeof PLUGIN_STATES)[number];

/** `start`, `stop` and `forget` are moves of the registry; the other events are their results. */
export type PluginEvent = PluginMove | 'started' | 'failed' | 'stopped';
export type PluginMove = 'start' | 'stop' | 'forget';

const AFTER: Readonly<Record<PluginState, Partial<Record<PluginEvent, PluginState>>>> = {
  off: { start: 'starting' },
  starting: { started: 'on', failed: 'failed' },
  on: { stop: 'stopping' },
  stopping: { stopped: 'off' },
  failed: { start: 'starting', forget: 'off' },
};

/** @throws Error if the event is not possible in the state. */
export function stateAfter(state: PluginState, event: PluginEvent): PluginState {
  const next = AFTER[state][event];
  if (next === undefined) throw new Error(`a plugin that is ${state} cannot be ${event}`);
  return next;
}

/** Actual and desired state of a plugin. */
export interface PluginStatus {
  readonly state: PluginState;
  /** Whether the plugin and its dependencies are enabled. */
  readonly shouldRun: boolean;
  /** Whether the plugin was enabled again after it failed. */
  readonly retryRequested: boolean;
}

/**
 * Returns the moves that can start now: a plugin starts after its dependencies are on, and stops after its
 * dependants are off. Independent plugins move concurrently.
 */
export function availableMoves(
  plugins: readonly PluginNode[],
  standingOf: (name: string) => PluginStatus,
): readonly { readonly name: string; readonly move: PluginMove }[] {
  return plugins.flatMap((plugin) => {
    const move = moveNow(plugins, plugin, standingOf);
    return move === undefined ? [] : [{ name: plugin.name, move }];
  });
}

function moveNow(
  plugins: readonly PluginNode[],
  plugin: PluginNode,
  standingOf: (name: string) => PluginStatus,
): PluginMove | undefined {
  const { state, shouldRun, retryRequested } = standingOf(plugin.name);
  const stateOf = ({ name }: PluginNode) => standingOf(name).state;
  if (shouldRun) {
    if (state !== 'off' && !(state === 'failed' && retryRequested)) return undefined;
    return providersOf(plugins, plugin).every((each) => stateOf(each) === 'on') ? 'start' : undefined;
  }
  if (state === 'failed') return 'forget';
  if (state !== 'on') return undefined;
  const isIdle = (each: PluginNode) => ['off', 'failed'].includes(stateOf(each));
  return dependantsOf(plugins, plugin).every(isIdle) ? 'stop' : undefined;
}
