import { expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../test/harness/state-table.ts';
import type { PluginNode } from './graph.ts';
import { availableMoves, type PluginEvent, type PluginState, stateAfter } from './state-machine.ts';

const STATES: Readonly<Record<PluginState, PluginState>> = {
  off: 'off',
  starting: 'starting',
  on: 'on',
  stopping: 'stopping',
  failed: 'failed',
};

/** A plugin with one dependency and one dependant. */
const BELOW: PluginNode = { name: 'below', needs: [], offers: ['operations'] };
const IT: PluginNode = { name: 'it', needs: ['operations'], offers: ['tts'] };
const ABOVE: PluginNode = { name: 'above', needs: ['tts'], offers: [] };

interface Situation {
  readonly wanted: boolean;
  readonly retryRequested?: boolean;
  readonly below?: PluginState;
  readonly above?: PluginState;
}

const EVENTS: Readonly<Record<string, Situation | PluginEvent>> = {
  wanted: { wanted: true },
  'wanted again': { wanted: true, retryRequested: true },
  'wanted, a need is not on': { wanted: true, retryRequested: true, below: 'starting' },
  'not wanted': { wanted: false },
  'not wanted, still needed': { wanted: false, above: 'stopping' },
  started: 'started',
  failed: 'failed',
  stopped: 'stopped',
};

function cell(state: PluginState, event: Situation | PluginEvent): string {
  try {
    if (typeof event === 'string') return `→ ${stateAfter(state, event)}`;
  } catch {
    return 'never';
  }
  const { wanted, retryRequested = false, below = 'on', above = 'off' } = event;
  const moves = availableMoves([BELOW, IT, ABOVE], (name) => {
    if (name === 'it') return { state, shouldRun: wanted, retryRequested };
    // In their desired state.
    return { state: name === 'below' ? below : above, shouldRun: name === 'below', retryRequested: false };
  });
  const move = moves.find(({ name }) => name === 'it')?.move;
  return move === undefined ? '–' : `${move} → ${stateAfter(state, move)}`;
}

it('matches every cell of the table in docs/states/plugin.md', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('plugin'));
});
