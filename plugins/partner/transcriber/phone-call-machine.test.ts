import fc from 'fast-check';
import { expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { acceptsAudio, type Effect, type Event, initial, next, type State } from './phone-call-machine.ts';

const STATES: Record<State['kind'], State> = {
  connecting: { kind: 'connecting' },
  waiting: { kind: 'waiting' },
  streaming: { kind: 'streaming' },
  draining: { kind: 'draining' },
  closing: { kind: 'closing' },
  failing: { kind: 'failing' },
  disconnected: { kind: 'disconnected' },
  closed: { kind: 'closed' },
};

const EVENTS: Record<string, Event> = {
  opened: { kind: 'opened' },
  'start received': { kind: 'start_received' },
  'invalid start received': { kind: 'invalid_start_received' },
  'audio received': { kind: 'audio_received' },
  overrun: { kind: 'overrun' },
  'turns finished': { kind: 'turns_finished' },
  'drain requested': { kind: 'drain_requested' },
  'stop requested': { kind: 'stop_requested' },
  'error occurred': { kind: 'error_occurred' },
  'socket closed': { kind: 'socket_closed' },
};

const effectName = (effect: Effect) =>
  'why' in effect
    ? `${effect.kind.replace('_', ' ')} (${effect.why.replace('_', ' ')})`
    : effect.kind.replace('_', ' ');

function cell(state: State, event: Event): string {
  const step = next(state, event);
  const effects = step.effects.map(effectName).join(', ');
  const moved = step.state.kind === state.kind ? '' : `→ ${step.state.kind}`;
  return [effects, moved].filter((part) => part !== '').join(' ') || '–';
}

it('equals the table of docs/states/phone-call.md', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('phone-call'));
});

it('accepts audio only while streaming and releases the call once, for any sequence of events', () => {
  const event = fc.constantFrom(...Object.values(EVENTS));
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let state = initial;
      const seen: Effect['kind'][] = [];
      for (const each of events) {
        const step = next(state, each);
        for (const { kind } of step.effects) {
          expect(seen).not.toContain('release');
          // Errors are sent before the close; no input is configured after it has stopped.
          if (kind === 'send_error') expect(seen).not.toContain('close');
          if (kind === 'configure' || kind === 'apply_defaults') expect(seen).not.toContain('stop_input');
          seen.push(kind);
        }
        state = step.state;
        if (acceptsAudio(state))
          expect(seen.some((kind) => kind === 'configure' || kind === 'apply_defaults')).toBe(true);
        if (acceptsAudio(state)) expect(seen).not.toContain('close');
        expect(state.kind === 'closed').toBe(seen.includes('release'));
      }
      // Every call ends: its socket closes, and its turns finish.
      for (const kind of ['socket_closed', 'turns_finished'] as const) state = next(state, { kind }).state;
      expect(state.kind).toBe('closed');
    }),
    { seed: 7, numRuns: 500 },
  );
});
