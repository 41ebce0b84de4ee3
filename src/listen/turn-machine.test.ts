import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../test/harness/tier.ts';
import { initial, next, type TurnEffect, type TurnEvent, type TurnState } from './turn-machine.ts';

const STATES: readonly TurnState[] = [
  { kind: 'manual' },
  { kind: 'quiet' },
  { kind: 'speaking' },
  { kind: 'paused' },
];

/** Events with their columns in the table. */
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
  ['turn_completed', { kind: 'turn_completed', endSample: 21 }],
  ['configured by client', { kind: 'configured', by: 'client' }],
  ['configured by detector', { kind: 'configured', by: 'detector' }],
];

const inTurn = (state: TurnState) => state.kind === 'speaking' || state.kind === 'paused';

/** Cells of the first table of the document, by state and column. */
function documentedCells(): Map<string, string> {
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
  const table = documentedCells();

  it('has one cell per state and event', () => {
    const names = STATES.flatMap(({ kind }) => EVENTS.map(([column]) => `${kind}/${column}`));
    expect([...table.keys()].sort()).toEqual(names.sort());
  });

  for (const state of STATES) {
    it.each(EVENTS)(`specifies the transition from ${state.kind} on %s`, (column, event) => {
      const after = next(state, event);
      const effectKinds = after.effects.map(({ kind }) => kind).join(', ');
      const to = after.state.kind === state.kind ? '' : `→ ${after.state.kind}`;
      expect(`${effectKinds} ${to}`.trim() || '–').toBe(table.get(`${state.kind}/${column}`));
    });
  }
});

describe('effects carry the data of the events', () => {
  it.each([
    ['quiet', 'started', { kind: 'start_turn', startSample: 7 }],
    ['speaking', 'paused', { kind: 'pause_turn', endSample: 21 }],
    ['paused', 'stopped', { kind: 'stop_turn', endSample: 21 }],
    ['speaking', 'long_turn_paused', { kind: 'cut_turn', endSample: 21 }],
    ['paused', 'turn_completed', { kind: 'cut_turn', endSample: 21 }],
    ['quiet', 'detector_failed', { kind: 'report_failure', error: 'why' }],
  ] as const)('in %s, %s', (kind, column, effect) => {
    const [, event] = EVENTS.find(([name]) => name === column) ?? [];
    expect(event && next({ kind }, event).effects[0]).toEqual(effect);
  });
});

/** State of the turn according to the effects so far. */
interface TurnProgress {
  readonly isActive: boolean;
  readonly isPaused: boolean;
}

/** @throws Error that names the rule that an effect violates. */
function follow(effectKind: TurnEffect['kind'], { isActive, isPaused }: TurnProgress): TurnProgress {
  const must = (holds: boolean) => {
    if (!holds) throw new Error(`${effectKind} while open is ${isActive} and paused is ${isPaused}`);
  };
  switch (effectKind) {
    case 'start_turn':
      must(!isActive);
      return { isActive: true, isPaused: false };
    case 'pause_turn':
      must(isActive && !isPaused);
      return { isActive, isPaused: true };
    case 'resume_turn':
      must(isActive && isPaused);
      return { isActive, isPaused: false };
    case 'stop_turn':
    case 'cut_turn':
    case 'end_turn':
    case 'drop_turn':
      must(isActive);
      return { isActive: false, isPaused: false };
    case 'commit_buffered':
    case 'reject_commit':
    case 'clear_buffer':
      // An active turn would lose its undelivered audio.
      must(!isActive);
      return { isActive, isPaused };
    case 'restart_detector':
    case 'report_failure':
      return { isActive, isPaused };
  }
}

const COMMIT_RESULTS: readonly string[] = ['end_turn', 'commit_buffered', 'reject_commit'];
const CUTS: readonly string[] = ['cut_turn', 'end_turn', 'drop_turn', 'commit_buffered', 'clear_buffer'];

/** Applies one event of a walk. @throws Error that names the violated rule. */
function applyEvent(before: TurnState, event: TurnEvent, progress: TurnProgress) {
  const { state: after, effects } = next(before, event);
  const effectKinds = effects.map(({ kind }) => kind);
  const must = (rule: string, holds: boolean) => {
    if (!holds)
      throw new Error(`${rule}: ${before.kind}, ${event.kind}, ${effectKinds.join(', ')}, ${after.kind}`);
  };
  const now = effectKinds.reduce((progressSoFar, effectKind) => follow(effectKind, progressSoFar), progress);
  must('the state matches the turn', now.isActive === inTurn(after));
  must('the state matches the pause', now.isPaused === (after.kind === 'paused'));
  must('an effect occurs once per event', new Set(effectKinds).size === effectKinds.length);
  if (before.kind === 'manual') must('no detector is running', !effectKinds.includes('restart_detector'));
  else if (effectKinds.some((effectKind) => CUTS.includes(effectKind))) {
    must('a cut ends with a restart of the detector', effectKinds.at(-1) === 'restart_detector');
  }
  const commitResults = effectKinds.filter((effectKind) => COMMIT_RESULTS.includes(effectKind)).length;
  if (event.kind === 'commit_requested')
    must('a commit has one result', commitResults === 1 && !now.isActive);
  if (event.kind === 'clear_requested')
    must('a clear discards the buffer', effectKinds.includes('clear_buffer') && !now.isActive);
  const isManual = event.kind === 'configured' ? event.by === 'client' : before.kind === 'manual';
  must('only configuring changes who ends turns', (after.kind === 'manual') === isManual);
  return { state: after, progress: now };
}

const nothing: TurnProgress = { isActive: false, isPaused: false };

describe('every walk keeps the rules: a turn starts once and ends once, and cutting it restarts the detector', () => {
  it('all sequences of up to 5 events', () => {
    let visited = 0;
    const reached = new Set<string>();
    const extend = (state: TurnState, progress: TurnProgress, depth: number): void => {
      visited += 1;
      reached.add(state.kind);
      if (depth === 0) return;
      for (const [, event] of EVENTS) {
        const step = applyEvent(state, event, progress);
        extend(step.state, step.progress, depth - 1);
      }
    };
    extend(initial, nothing, 5);
    expect(visited).toBe(402_234);
    expect(reached.size).toBe(4);
  });

  it('random sequences of up to 1000 events', () => {
    const event = fc.constantFrom(...EVENTS.map(([, each]) => each));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 1000 }), (events) => {
        let step = { state: initial, progress: nothing };
        for (const each of events) step = applyEvent(step.state, each, step.progress);
      }),
      { seed: 5, numRuns: repetitions(67, 200) },
    );
  });
});
