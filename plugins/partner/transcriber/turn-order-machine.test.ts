import fc from 'fast-check';
import { expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Effect, type Event, initial, next, type State, type UntoldTurn } from './turn-order-machine.ts';

const A = 'item_a';
const B = 'item_b';
const C = 'item_c';
const completed = (itemId: UntoldTurn['itemId'], transcript = 'words') =>
  ({ kind: 'completed', itemId, transcript }) as const;
const failed = (itemId: UntoldTurn['itemId']) => ({ kind: 'failed', itemId, message: 'why' }) as const;

const STATES: Record<string, State> = {
  none: initial,
  A: [{ itemId: A }],
  'A, B': [{ itemId: A }, { itemId: B }],
  'A, B completed': [{ itemId: A }, { itemId: B, end: completed(B) }],
  'A, B silent': [{ itemId: A }, { itemId: B, end: completed(B, '') }],
  'A, B failed': [{ itemId: A }, { itemId: B, end: failed(B) }],
  'A, B completed, C': [{ itemId: A }, { itemId: B, end: completed(B) }, { itemId: C }],
};

const EVENTS: Record<string, Event> = {
  'A opened': { kind: 'opened', itemId: A },
  'B opened': { kind: 'opened', itemId: B },
  'A heard so far': { kind: 'heard_so_far', itemId: A, text: 'so far' },
  'A heard so far, nothing': { kind: 'heard_so_far', itemId: A, text: '' },
  'B heard so far': { kind: 'heard_so_far', itemId: B, text: 'so far' },
  'A completed': completed(A),
  'A completed, silent': completed(A, ''),
  'A failed': failed(A),
  'B completed': completed(B),
  'B completed, silent': completed(B, ''),
  'B failed': failed(B),
};

const letter = (itemId: string) => itemId.slice(-1).toUpperCase();

function turnName({ itemId, end }: UntoldTurn): string {
  if (end === undefined) return letter(itemId);
  if (end.kind === 'failed') return `${letter(itemId)} failed`;
  return `${letter(itemId)} ${end.transcript === '' ? 'silent' : 'completed'}`;
}

const stateName = (state: State) => state.map(turnName).join(', ') || 'none';
const effectName = (effect: Effect) =>
  effect.kind === 'transcribe' ? `transcribe ${letter(effect.itemId)}` : effect.kind.replace('_', ' ');

function cell(state: State, event: Event): string {
  const step = next(state, event);
  const effects = step.effects.map(effectName).join(', ');
  const [before, after] = [stateName(state), stateName(step.state)];
  return [effects, before === after ? '' : `→ ${after}`].filter((part) => part !== '').join(' ') || '–';
}

it('is the table of docs/states/turn-order.md, every cell', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('turn-order'));
});

it('tells every turn once, in the order in which they were spoken, and partials of the first alone', () => {
  const name = fc.constantFrom('item_1', 'item_2', 'item_3', 'item_4');
  const event: fc.Arbitrary<Event> = fc.oneof(
    name.map((itemId) => ({ kind: 'opened', itemId }) as const),
    name.map((itemId) => ({ kind: 'heard_so_far', itemId, text: `${itemId}?` }) as const),
    name.map((itemId) => ({ kind: 'completed', itemId, transcript: itemId }) as const),
    name.map((itemId) => ({ kind: 'failed', itemId, message: itemId }) as const),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let state = initial;
      const opened: string[] = [];
      const told: string[] = [];
      for (const each of events) {
        // An id is given once.
        if (each.kind === 'opened' && opened.includes(each.itemId)) continue;
        const step = next(state, each);
        if (each.kind === 'opened') opened.push(each.itemId);
        state = step.state;
        expect(state[0]?.end).toBeUndefined();
        for (const effect of step.effects) {
          if (effect.kind === 'tell_partial') expect(effect.text).toBe(`${opened[told.length]}?`);
          if (effect.kind === 'tell_final') told.push(effect.text);
          if (effect.kind === 'tell_failure') told.push(effect.message);
        }
      }
      expect(told).toEqual(opened.slice(0, told.length));
      expect(state.map(({ itemId }) => itemId)).toEqual(opened.slice(told.length));
    }),
    { seed: 11, numRuns: 500 },
  );
});
