import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initial, next, type TurnEffect, type TurnEvent, type TurnState } from './turn-machine.ts';

const STATES: readonly TurnState[] = [
  { kind: 'manual' },
  { kind: 'quiet' },
  { kind: 'speaking' },
  { kind: 'paused' },
];

/** Each with its column in the table. */
const EVENTS: readonly (readonly [string, TurnEvent])[] = [
  ['started', { kind: 'started', onsetSample: 9, startSample: 7 }],
  ['paused', { kind: 'paused', endSample: 21 }],
  ['resumed', { kind: 'resumed' }],
  ['stopped', { kind: 'stopped', endSample: 21 }],
  ['detector_failed', { kind: 'detector_failed', error: 'why' }],
  ['commit_requested, buffered', { kind: 'commit_requested', hasAudio: true }],
  ['commit_requested, empty', { kind: 'commit_requested', hasAudio: false }],
  ['clear_requested', { kind: 'clear_requested' }],
  ['limit_reached', { kind: 'limit_reached' }],
  ['long_turn_paused', { kind: 'long_turn_paused', endSample: 21 }],
  ['configured by client', { kind: 'configured', by: 'client' }],
  ['configured by detector', { kind: 'configured', by: 'detector' }],
];

const inTurn = (state: TurnState) => state.kind === 'speaking' || state.kind === 'paused';

/** Cells of the first table of the document, by state and column. */
function documented(): Map<string, string> {
  const text = readFileSync(join(import.meta.dirname, '../../docs/states/turn.md'), 'utf8');
  const table = (text.split('\n\n').find((part) => part.startsWith('| state')) ?? '').split('\n');
  const rows = table.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
  const [head = [], , ...body] = rows;
  return new Map(
    body.flatMap(([state = '', ...cells]) => cells.map((cell, i) => [`${state}/${head[i + 1]}`, cell])),
  );
}

describe('the table in docs/states/turn.md', () => {
  const table = documented();

  it('has a cell for each state and event, and no other', () => {
    const names = STATES.flatMap(({ kind }) => EVENTS.map(([column]) => `${kind}/${column}`));
    expect([...table.keys()].sort()).toEqual(names.sort());
  });

  for (const state of STATES) {
    it.each(EVENTS)(`says what ${state.kind} makes of %s`, (column, event) => {
      const after = next(state, event);
      const orders = after.effects.map(({ kind }) => kind).join(', ');
      const to = after.state.kind === state.kind ? '' : `→ ${after.state.kind}`;
      expect(`${orders} ${to}`.trim() || '–').toBe(table.get(`${state.kind}/${column}`));
    });
  }
});

describe('orders carry what the facts said', () => {
  it.each([
    ['quiet', 'started', { kind: 'start_turn', startSample: 7 }],
    ['speaking', 'paused', { kind: 'pause_turn', endSample: 21 }],
    ['paused', 'stopped', { kind: 'stop_turn', endSample: 21 }],
    ['speaking', 'long_turn_paused', { kind: 'cut_turn', endSample: 21 }],
    ['quiet', 'detector_failed', { kind: 'report_failure', error: 'why' }],
  ] as const)('in %s, %s', (kind, column, effect) => {
    const [, event] = EVENTS.find(([name]) => name === column) ?? [];
    expect(event && next({ kind }, event).effects[0]).toEqual(effect);
  });
});

/** What the orders so far have made of the turn. */
interface Followed {
  readonly isOpen: boolean;
  readonly isPaused: boolean;
}

/** @throws Error that says which rule an order breaks. */
function follow(order: TurnEffect['kind'], { isOpen, isPaused }: Followed): Followed {
  const must = (holds: boolean) => {
    if (!holds) throw new Error(`${order} while open is ${isOpen} and paused is ${isPaused}`);
  };
  switch (order) {
    case 'start_turn':
      must(!isOpen);
      return { isOpen: true, isPaused: false };
    case 'pause_turn':
      must(isOpen && !isPaused);
      return { isOpen, isPaused: true };
    case 'resume_turn':
      must(isOpen && isPaused);
      return { isOpen, isPaused: false };
    case 'stop_turn':
    case 'cut_turn':
    case 'end_turn':
    case 'drop_turn':
      must(isOpen);
      return { isOpen: false, isPaused: false };
    case 'commit_buffered':
    case 'reject_commit':
    case 'clear_buffer':
      // An open turn would lose what it has not been given.
      must(!isOpen);
      return { isOpen, isPaused };
    case 'restart_detector':
    case 'report_failure':
      return { isOpen, isPaused };
  }
}

const ANSWERS: readonly string[] = ['end_turn', 'commit_buffered', 'reject_commit'];
const CUTS: readonly string[] = ['cut_turn', 'end_turn', 'drop_turn', 'commit_buffered', 'clear_buffer'];

/** One event of a walk. @throws Error that says which rule is broken. */
function walkOn(before: TurnState, event: TurnEvent, followed: Followed) {
  const { state: after, effects } = next(before, event);
  const orders = effects.map(({ kind }) => kind);
  const must = (rule: string, holds: boolean) => {
    if (!holds)
      throw new Error(`${rule}: ${before.kind}, ${event.kind}, ${orders.join(', ')}, ${after.kind}`);
  };
  const now = orders.reduce((sofar, order) => follow(order, sofar), followed);
  must('the state knows the turn', now.isOpen === inTurn(after));
  must('the state knows the pause', now.isPaused === (after.kind === 'paused'));
  must('an order is given once', new Set(orders).size === orders.length);
  if (before.kind === 'manual') must('there is no detector', !orders.includes('restart_detector'));
  else if (orders.some((order) => CUTS.includes(order))) {
    must('the detector begins anew behind a cut, last', orders.at(-1) === 'restart_detector');
  }
  const answers = orders.filter((order) => ANSWERS.includes(order)).length;
  if (event.kind === 'commit_requested') must('a commit has one answer', answers === 1 && !now.isOpen);
  if (event.kind === 'clear_requested')
    must('a clear clears', orders.includes('clear_buffer') && !now.isOpen);
  const isManual = event.kind === 'configured' ? event.by === 'client' : before.kind === 'manual';
  must('only configuring changes who ends turns', (after.kind === 'manual') === isManual);
  return { state: after, followed: now };
}

const nothing: Followed = { isOpen: false, isPaused: false };

describe('every walk keeps the rules: a turn opens once and ends once, what cuts it restarts the detector', () => {
  it('all sequences of up to 6 events', () => {
    let walked = 0;
    const reached = new Set<string>();
    const extend = (state: TurnState, followed: Followed, depth: number): void => {
      walked += 1;
      reached.add(state.kind);
      if (depth === 0) return;
      for (const [, event] of EVENTS) {
        const step = walkOn(state, event, followed);
        extend(step.state, step.followed, depth - 1);
      }
    };
    extend(initial, nothing, 6);
    expect(walked).toBe(3_257_437);
    expect(reached.size).toBe(4);
  });

  it('random sequences of up to 1000 events', () => {
    const event = fc.constantFrom(...EVENTS.map(([, each]) => each));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 1000 }), (events) => {
        let step = { state: initial, followed: nothing };
        for (const each of events) step = walkOn(step.state, each, step.followed);
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});
