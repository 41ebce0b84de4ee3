import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ACTIONS, type Action } from '../generators/conversation-actions.ts';
import { opened, type Simulation, settled } from '../generators/conversation-simulation.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Explores all states of a conversation that a number of actions can reach. Every event follows the rules and schemas, every state
 * the invariants, and all work that was started can end.
 */

const ALL: readonly (readonly [name: string, action: Action])[] = Object.entries(ACTIONS);

interface Exploration {
  readonly from: string;
  readonly opening: readonly string[];
  readonly depth: number;
  readonly states: number;
}

const EXPLORATIONS: readonly Exploration[] = [
  { from: 'a new session', opening: [], depth: repetitions(4, 5), states: repetitions(9732, 80_518) },
  {
    from: 'a spoken response',
    opening: ['speech starts', 'speech stops', 'words', 'transcript', 'reply speaks', 'reply sounds'],
    depth: repetitions(3, 5),
    states: repetitions(1898, 143_275),
  },
  {
    from: 'a response that continues while the user speaks',
    opening: ['let responses continue', 'respond', 'reply speaks', 'reply sounds', 'speech starts'],
    depth: repetitions(3, 5),
    states: repetitions(2001, 154_886),
  },
];

function play(before: Simulation, name: string): Simulation {
  const after = ACTIONS[name]?.(before);
  if (after === undefined) expect.fail(`${name} is not possible`);
  return after;
}

/** The hash of a state without the numbers in its ids, and without what has no effect on later events. */
function keyOf(simulation: Simulation): number | bigint {
  const { order: _1, watch: _2, faults: _3, idCount: _4, clockMs: _5, state, ...engines } = simulation;
  const ids = new Map<string, number>();
  const text = JSON.stringify([{ ...state, spoken: [...state.spoken] }, engines]).replace(
    /"(item|resp|call)_\d+"/g,
    (id) => {
      if (!ids.has(id)) ids.set(id, ids.size);
      return `"${ids.get(id)}"`;
    },
  );
  return Bun.hash(text);
}

function expectNoFault({ faults }: Simulation, path: readonly string[]): void {
  if (faults.length > 0) expect.fail(`${path.join(', ')}: ${faults[0]}`);
}

/** Returns the number of distinct states within a number of steps. */
function explore(start: Simulation, depth: number): number {
  const known = new Set([keyOf(start)]);
  let front: { readonly now: Simulation; readonly path: readonly string[] }[] = [{ now: start, path: [] }];
  for (let step = 0; step < depth; step++) {
    const next: typeof front = [];
    for (const { now, path } of front) {
      for (const [name, act] of ALL) {
        const after = act(now);
        if (after === undefined) continue;
        const to = [...path, name];
        expectNoFault(after, to);
        const key = keyOf(after);
        if (known.has(key)) continue;
        known.add(key);
        expectNoFault(settled(after), [...to, 'completion of everything']);
        if (!after.hasEnded) next.push({ now: after, path: to });
      }
    }
    front = next;
  }
  return known.size;
}

describe.each(EXPLORATIONS)('from $from', ({ opening, depth, states }) => {
  test.each([
    ['current', false],
    ['beta', true],
  ])(`all states within ${depth} steps follow the rules, in the names of the %s protocol`, (_, isBeta) => {
    const start = opening.reduce(play, opened(isBeta));
    expectNoFault(start, opening);
    expect(explore(start, depth)).toBe(states);
  });
});

test.each(EXPLORATIONS)(
  'docs/states/conversation.md names the states from $from',
  ({ from, depth, states }) => {
    const page = readFileSync(new URL('../../docs/states/conversation.md', import.meta.url), 'utf8');
    const line = page.split('\n').find((each) => each.startsWith(`- From ${from}: `));
    expect(line).toContain(`${states.toLocaleString('en-US')} states within ${depth} steps`);
    expect(page).toContain(`with ${ALL.length} actions`);
  },
);
