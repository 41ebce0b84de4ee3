import fc from 'fast-check';
import { expect, it } from 'vitest';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import {
  type Effect,
  type Event,
  initial,
  next,
  type PendingTurn,
  type State,
} from './turn-order-machine.ts';

const A = 'item_a';
const B = 'item_b';
const C = 'item_c';
const completed = (itemId: PendingTurn['itemId'], transcript = 'words') =>
  ({ kind: 'completed', itemId, transcript }) as const;
const failed = (itemId: PendingTurn['itemId']) => ({ kind: 'failed', itemId, message: 'why' }) as const;

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
  'A started': { kind: 'started', itemId: A },
  'B started': { kind: 'started', itemId: B },
  'A partial received': { kind: 'partial_received', itemId: A, text: 'so far' },
  'A partial received, nothing': { kind: 'partial_received', itemId: A, text: '' },
  'B partial received': { kind: 'partial_received', itemId: B, text: 'so far' },
  'A completed': completed(A),
  'A completed, silent': completed(A, ''),
  'A failed': failed(A),
  'B completed': completed(B),
  'B completed, silent': completed(B, ''),
  'B failed': failed(B),
};

const letter = (itemId: string) => itemId.slice(-1).toUpperCase();

function turnName({ itemId, end }: PendingTurn): string {
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

it('equals the table of docs/states/turn-order.md', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('turn-order'));
});

it('sends every turn once, in spoken order, and partials of the first one only', () => {
  const name = fc.constantFrom('item_1', 'item_2', 'item_3', 'item_4');
  const event: fc.Arbitrary<Event> = fc.oneof(
    name.map((itemId) => ({ kind: 'started', itemId }) as const),
    name.map((itemId) => ({ kind: 'partial_received', itemId, text: `${itemId}?` }) as const),
    name.map((itemId) => ({ kind: 'completed', itemId, transcript: itemId }) as const),
    name.map((itemId) => ({ kind: 'failed', itemId, message: itemId }) as const),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let state = initial;
      const started: string[] = [];
      const sent: string[] = [];
      for (const each of events) {
        // Item ids are unique.
        if (each.kind === 'started' && started.includes(each.itemId)) continue;
        const step = next(state, each);
        if (each.kind === 'started') started.push(each.itemId);
        state = step.state;
        expect(state[0]?.end).toBeUndefined();
        for (const effect of step.effects) {
          if (effect.kind === 'send_partial') expect(effect.text).toBe(`${started[sent.length]}?`);
          if (effect.kind === 'send_final') sent.push(effect.text);
          if (effect.kind === 'send_error') sent.push(effect.message);
        }
      }
      expect(sent).toEqual(started.slice(0, sent.length));
      expect(state.map(({ itemId }) => itemId)).toEqual(started.slice(sent.length));
    }),
    { seed: 11, numRuns: 500 },
  );
});
