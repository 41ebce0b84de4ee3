import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { acceptsWork, type Effect, type Event, initial, next, type State } from './connection-machine.ts';

const STATES: Record<State['kind'], State> = {
  connecting: { kind: 'connecting' },
  created: { kind: 'created' },
  configured: { kind: 'configured' },
  draining: { kind: 'draining' },
  closing: { kind: 'closing' },
  closed: { kind: 'closed' },
};

const EVENTS: Record<string, Event> = {
  opened: { kind: 'opened' },
  'update merged': { kind: 'update_merged' },
  'drain requested, idle': { kind: 'drain_requested', busy: false },
  'drain requested, busy': { kind: 'drain_requested', busy: true },
  'work finished': { kind: 'work_finished' },
  'error occurred': { kind: 'error_occurred' },
  'socket closed': { kind: 'socket_closed' },
};

const effectName = (effect: Effect) =>
  effect.kind === 'close' ? `close (${effect.reason.replace('_', ' ')})` : effect.kind;

function cell(state: State, event: Event): string {
  const step = next(state, event);
  const effects = step.effects.map(effectName).join(', ');
  const moved = step.state.kind === state.kind ? '' : `→ ${step.state.kind}`;
  return [effects, moved].filter((part) => part !== '').join(' ') || '–';
}

it('matches the table of docs/states/connection.md in every cell', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('connection'));
});

const events = Object.values(EVENTS);

/** Invariants that hold after every event. */
function requireOrder(sequence: readonly Event[]): void {
  let state = initial;
  const seen: Effect['kind'][] = [];
  for (const event of sequence) {
    const step = next(state, event);
    for (const { kind } of step.effects) {
      // Nothing is sent before session.created or after a close; session.created and the release occur once.
      if (kind === 'send_session_created') expect(seen).not.toContain('send_session_created');
      if (kind === 'send_session_updated') {
        expect(seen).toContain('send_session_created');
        expect(seen).not.toContain('close');
      }
      expect(seen).not.toContain('release');
      seen.push(kind);
    }
    state = step.state;
    if (acceptsWork(state)) expect(seen).not.toContain('stop_input');
    expect(state.kind === 'closed').toBe(seen.includes('release'));
  }
}

/** Length of the sequences that are all tried. */
const DEPTH = repetitions(4, 5);

describe('in any order of events', () => {
  it(`sends session.created first and once, and releases last and once: all ${events.length ** DEPTH} sequences of ${DEPTH}`, () => {
    const sequence: Event[] = [];
    const walk = (depth: number) => {
      if (depth === DEPTH) {
        requireOrder(sequence);
        return;
      }
      for (const event of events) {
        sequence.push(event);
        walk(depth + 1);
        sequence.pop();
      }
    };
    walk(0);
  });

  it('and in long random walks', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(...events), { maxLength: 60 }), requireOrder), {
      seed: 7,
      numRuns: repetitions(500, 2000),
    });
  });
});
