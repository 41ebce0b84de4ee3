/** Life of a plugin while the process serves (docs/states/plugin.md). Pure: the registry does what it says. */

import { dependantsOf, type PluginNode, providersOf } from './graph.ts';

export const PLUGIN_STATES = ['off', 'starting', 'on', 'stopping', 'failed'] as const;
export type PluginState = (typeof PLUGIN_STATES)[number];

/** `start`, `stop` and `forget` are begun by the registry; the others are how they end. */
export type PluginEvent = PluginMove | 'started' | 'failed' | 'stopped';
export type PluginMove = 'start' | 'stop' | 'forget';

const AFTER: Readonly<Record<PluginState, Partial<Record<PluginEvent, PluginState>>>> = {
  off: { start: 'starting' },
  starting: { started: 'on', failed: 'failed' },
  on: { stop: 'stopping' },
  stopping: { stopped: 'off' },
  failed: { start: 'starting', forget: 'off' },
};

/** @throws Error for an event that cannot happen in the state. */
export function stateAfter(state: PluginState, event: PluginEvent): PluginState {
  const next = AFTER[state][event];
  if (next === undefined) throw new Error(`a plugin that is ${state} cannot be ${event}`);
  return next;
}

/** Where a plugin stands. */
export interface PluginStatus {
  readonly state: PluginState;
  /** It is to be on, and so is whatever it needs. */
  readonly shouldRun: boolean;
  /** What it failed with was wished again since. */
  readonly retryRequested: boolean;
}

/**
 * What may be begun now: a plugin starts when all that it needs are on, and stops when all that need it are off. Those
 * that do not depend on each other need not wait for each other.
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
  const { state, shouldRun: wanted, retryRequested: wishedAgain } = standingOf(plugin.name);
  const stateOf = ({ name }: PluginNode) => standingOf(name).state;
  if (wanted) {
    if (state !== 'off' && !(state === 'failed' && wishedAgain)) return undefined;
    return providersOf(plugins, plugin).every((each) => stateOf(each) === 'on') ? 'start' : undefined;
  }
  if (state === 'failed') return 'forget';
  if (state !== 'on') return undefined;
  const isIdle = (each: PluginNode) => ['off', 'failed'].includes(stateOf(each));
  return dependantsOf(plugins, plugin).every(isIdle) ? 'stop' : undefined;
}
