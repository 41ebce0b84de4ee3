import fc from 'fast-check';
import { expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Effect, type Event, hears, initial, next, type State } from './phone-call-machine.ts';

const STATES: Record<State['kind'], State> = {
  connecting: { kind: 'connecting' },
  expecting: { kind: 'expecting' },
  hearing: { kind: 'hearing' },
  finishing: { kind: 'finishing' },
  closing: { kind: 'closing' },
  failing: { kind: 'failing' },
  leaving: { kind: 'leaving' },
  closed: { kind: 'closed' },
};

const EVENTS: Record<string, Event> = {
  opened: { kind: 'opened' },
  'start came': { kind: 'start_came' },
  'wrong start came': { kind: 'wrong_start_came' },
  'audio came': { kind: 'audio_came' },
  overrun: { kind: 'overrun' },
  'turns ended': { kind: 'turns_ended' },
  'drain ordered': { kind: 'drain_ordered' },
  'stop ordered': { kind: 'stop_ordered' },
  'fault found': { kind: 'fault_found' },
  'socket closed': { kind: 'socket_closed' },
};

const effectName = (effect: Effect) =>
  'why' in effect ? `${effect.kind} (${effect.why.replace('_', ' ')})` : effect.kind.replace('_', ' ');

function cell(state: State, event: Event): string {
  const step = next(state, event);
  const effects = step.effects.map(effectName).join(', ');
  const moved = step.state.kind === state.kind ? '' : `→ ${step.state.kind}`;
  return [effects, moved].filter((part) => part !== '').join(' ') || '–';
}

it('is the table of docs/states/phone-call.md, every cell', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('phone-call'));
});

it('whatever happens, audio counts only while it is heard, and everything is freed once', () => {
  const event = fc.constantFrom(...Object.values(EVENTS));
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let state = initial;
      const seen: Effect['kind'][] = [];
      for (const each of events) {
        const step = next(state, each);
        for (const { kind } of step.effects) {
          expect(seen).not.toContain('release');
          // What is told leaves before the close; nothing is begun once no more is heard.
          if (kind === 'tell') expect(seen).not.toContain('close');
          if (kind === 'configure' || kind === 'assume') expect(seen).not.toContain('end_hearing');
          seen.push(kind);
        }
        state = step.state;
        if (hears(state)) expect(seen.some((kind) => kind === 'configure' || kind === 'assume')).toBe(true);
        if (hears(state)) expect(seen).not.toContain('close');
        expect(state.kind === 'closed').toBe(seen.includes('release'));
      }
      // Every call ends: its socket closes, and its turns do.
      for (const kind of ['socket_closed', 'turns_ended'] as const) state = next(state, { kind }).state;
      expect(state.kind).toBe('closed');
    }),
    { seed: 7, numRuns: 500 },
  );
});
