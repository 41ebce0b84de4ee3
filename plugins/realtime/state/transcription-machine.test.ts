import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Id } from '../../../src/contract/core/id.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { MAX_PENDING_TURNS } from '../limits.ts';
import type { WireError } from '../protocol/errors.ts';
import {
  canCommit,
  type Effect,
  type Event,
  hasTurn,
  initial,
  isBusy,
  next,
  type State,
} from './transcription-machine.ts';

type ItemId = Id<'item_'>;
const A = 'item_A';
const B = 'item_B';
const C = 'item_C';

const ERROR: WireError = { type: 'server_error', code: 'upstream_error', message: 'The engine failed.' };
const TOKENS = { audio: 22, text: 3, output: 5 };

const opened = (itemId: ItemId): Event => ({ kind: 'turn_opened', itemId });
const committed = (itemId: ItemId): Event => ({ kind: 'turn_committed', itemId });
const dropped = (itemId: ItemId): Event => ({ kind: 'turn_dropped', itemId });
const delta = (itemId: ItemId, text = ' word'): Event => ({ kind: 'delta', itemId, text });
const completed = (itemId: ItemId, transcript = 'word'): Event => ({
  kind: 'completed',
  itemId,
  transcript,
  tokens: TOKENS,
});
const failed = (itemId: ItemId): Event => ({ kind: 'failed', itemId, error: ERROR });
const closed: Event = { kind: 'closed' };

/** The state and all effects after a sequence of events. */
function run(events: readonly Event[], from: State = initial) {
  const effects: Effect[] = [];
  let state = from;
  for (const event of events) {
    const step = next(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const stateAfter = (...events: Event[]) => run(events).state;

/** `conversation.item.input_audio_transcription.delta` is `delta` here; items are letters. */
function effectName(effect: Effect): string {
  if (effect.kind !== 'send') {
    return `${effect.kind} ${effect.itemId.at(-1)}`;
  }
  const { event } = effect;
  if (!('item_id' in event)) return event.type;
  return `send ${event.type.split('.').at(-1)} ${event.item_id.at(-1)}`;
}

function stateName(state: State): string {
  if (state.kind === 'closed') return 'closed';
  const turns = state.turns.map(
    ({ itemId, committed }) => `${itemId.at(-1)} ${committed ? 'committed' : 'opened'}`,
  );
  return turns.join(', ') || 'idle';
}

describe('the table of docs/states/transcription.md', () => {
  const STATES = {
    idle: initial,
    'A opened': stateAfter(opened(A)),
    'A opened, B committed': stateAfter(opened(A), committed(B)),
    'A committed': stateAfter(committed(A)),
    'A committed, B opened': stateAfter(committed(A), opened(B)),
    'A committed, B committed': stateAfter(committed(A), committed(B)),
    closed: stateAfter(closed),
  };
  const EVENTS = {
    'C opened': opened(C),
    'C committed': committed(C),
    'A opened': opened(A),
    'A committed': committed(A),
    'A dropped': dropped(A),
    'delta of A': delta(A),
    'empty delta of A': delta(A, ''),
    'A completed': completed(A),
    'A failed': failed(A),
    'B committed': committed(B),
    'B dropped': dropped(B),
    'delta of B': delta(B),
    'B completed': completed(B),
    'B failed': failed(B),
    'connection closed': closed,
  };

  it('matches the machine in every cell', () => {
    const table = machineTable(STATES, EVENTS, (state, event) => {
      const step = next(state, event);
      const effects = step.effects.map(effectName).join(', ');
      const changed = stateName(step.state) === stateName(state) ? '' : `→ ${stateName(step.state)}`;
      return [effects, changed].filter((part) => part !== '').join(' ') || '–';
    });
    expect(documentedTable('transcription')).toEqual(table);
  });

  it('has a row for each state', () => {
    for (const [name, state] of Object.entries(STATES)) expect(stateName(state)).toBe(name);
  });
});

describe('the payloads (openai-wire 8.5, 8.7)', () => {
  const sent = (events: readonly Event[]) =>
    run(events).effects.flatMap((effect) => (effect.kind === 'send' ? [effect.event] : []));

  it('of a completed transcription are as specified', () => {
    expect(sent([committed(A), delta(A, 'turn on '), delta(A, 'the'), completed(A, 'turn on the')])).toEqual([
      {
        type: 'conversation.item.input_audio_transcription.delta',
        item_id: A,
        content_index: 0,
        delta: 'turn on ',
        logprobs: null,
      },
      {
        type: 'conversation.item.input_audio_transcription.delta',
        item_id: A,
        content_index: 0,
        delta: 'the',
        logprobs: null,
      },
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: A,
        content_index: 0,
        transcript: 'turn on the',
        logprobs: null,
        usage: {
          type: 'tokens',
          total_tokens: 30,
          input_tokens: 25,
          output_tokens: 5,
          input_token_details: { text_tokens: 3, audio_tokens: 22 },
        },
      },
    ]);
  });

  it('of a failure contain no null', () => {
    expect(sent([committed(A), failed(A)])).toEqual([
      {
        type: 'conversation.item.input_audio_transcription.failed',
        item_id: A,
        content_index: 0,
        error: ERROR,
      },
    ]);
  });

  it('of a turn without speech are a completed event without text', () => {
    expect(sent([committed(A), completed(A, '')])).toMatchObject([{ transcript: '' }]);
  });
});

describe('the state queries', () => {
  const full = stateAfter(
    committed(A),
    ...Array.from({ length: MAX_PENDING_TURNS }, (_, n) => committed(`item_${n}`)),
  );

  it('allow the maximum number of waiting turns', () => {
    expect(canCommit(full)).toBe(false);
    expect(canCommit(run([completed(A)], full).state)).toBe(true);
    expect(canCommit(stateAfter(committed(A), opened(B)))).toBe(true);
    expect(canCommit(stateAfter(closed))).toBe(false);
  });

  it('report whether a client waits for a result', () => {
    expect(isBusy(initial)).toBe(false);
    expect(isBusy(stateAfter(opened(A)))).toBe(false);
    expect(isBusy(stateAfter(opened(A), committed(B)))).toBe(true);
    expect(isBusy(stateAfter(committed(A)))).toBe(true);
    expect(isBusy(stateAfter(committed(A), completed(A)))).toBe(false);
    expect(isBusy(stateAfter(committed(A), closed))).toBe(false);
  });

  it('report unfinished turns', () => {
    const state = stateAfter(committed(A), opened(B));
    expect([A, B, C].map((id) => hasTurn(state, id))).toEqual([true, true, false]);
    expect(hasTurn(stateAfter(committed(A), completed(A)), A)).toBe(false);
    expect(hasTurn(stateAfter(committed(A), closed), A)).toBe(false);
  });
});

/** What can be observed of one turn. */
interface Seen {
  readonly place: 'open' | 'committed' | 'gone';
  readonly engine: 'none' | 'runs' | 'ended' | 'stopped';
  readonly confirmed: boolean;
  /** Text that its engine generated, and text that was sent. */
  readonly generatedText: string;
  readonly sent: string;
  readonly terminal: boolean;
}

/**
 * Tracks a run by its events and effects only, and reports violations. It does not use the state of the
 * machine.
 */
interface Tracker {
  readonly turns: ReadonlyMap<ItemId, Seen>;
  readonly closed: boolean;
}

const UNSEEN: Tracker = { turns: new Map(), closed: false };
const FRESH: Seen = {
  place: 'open',
  engine: 'none',
  confirmed: false,
  generatedText: '',
  sent: '',
  terminal: false,
};

/**
 * Ids are unique (spec 6.2: each turn has its own). A running transcription reports nothing before the turn is
 * confirmed. Everything else may occur at any time.
 */
function isPossible({ turns, closed: over }: Tracker, event: Event): boolean {
  if (event.kind === 'turn_opened') return !turns.has(event.itemId) && !over;
  if (event.kind === 'turn_committed') {
    const place = turns.get(event.itemId)?.place;
    return !over && (place === undefined || place === 'open');
  }
  if (event.kind === 'delta' || event.kind === 'completed' || event.kind === 'failed') {
    const turn = turns.get(event.itemId);
    return turn?.engine !== 'runs' || turn.confirmed;
  }
  return true;
}

function broken(rule: string): never {
  throw new Error(rule);
}

/** Returns the tracker after one step. @throws Error that names the violated rule. */
function track(tracker: Tracker, event: Event, { state, effects }: ReturnType<typeof next>): Tracker {
  const turns = new Map(tracker.turns);
  const change = (itemId: ItemId, fields: Partial<Seen>) =>
    turns.set(itemId, { ...(turns.get(itemId) ?? FRESH), ...fields });
  const turn = 'itemId' in event ? turns.get(event.itemId) : undefined;
  const isOver = tracker.closed || event.kind === 'closed';

  if (event.kind === 'turn_opened') change(event.itemId, { place: 'open' });
  if (event.kind === 'turn_committed') change(event.itemId, { place: 'committed' });
  if (event.kind === 'turn_dropped' && turn?.place === 'open') change(event.itemId, { place: 'gone' });
  if (event.kind === 'delta' && turn?.engine === 'runs') {
    change(event.itemId, { generatedText: turn.generatedText + event.text });
  }
  const isEnd = event.kind === 'completed' || event.kind === 'failed';
  if (isEnd && turn?.engine === 'runs') change(event.itemId, { engine: 'ended' });

  for (const effect of effects) {
    if (effect.kind === 'send') {
      if (isOver) broken('nothing is sent once the connection is closed');
      if (!('item_id' in effect.event)) throw broken('only transcription events are sent');
      const itemId = effect.event.item_id as ItemId;
      const seen = turns.get(itemId) ?? broken('an event has the id of a turn');
      if (seen.place !== 'committed') broken('only a committed turn has events (order rules 1 and 2)');
      if (seen.terminal) broken('nothing follows completed or failed');
      const [first] = [...turns].filter(([, { place, terminal }]) => place === 'committed' && !terminal);
      // The map is ordered by first occurrence, and so by queue position.
      if (first?.[0] !== itemId) broken('turns are transcribed in order');
      if ('delta' in effect.event) {
        if (effect.event.delta === '') broken('no delta is empty');
        change(itemId, { sent: seen.sent + effect.event.delta });
      } else {
        if (seen.engine !== 'ended') broken('a result is sent if there is one');
        if (seen.sent !== seen.generatedText) broken('the deltas match the engine output');
        change(itemId, { terminal: true });
      }
      continue;
    }
    const seen = turns.get(effect.itemId) ?? broken('an effect refers to a turn');
    switch (effect.kind) {
      case 'transcribe':
        if (isOver) broken('nothing starts once the connection is closed');
        if (seen.engine !== 'none') broken('a turn is transcribed once');
        if (seen.place === 'gone') broken('a dropped turn is not started');
        if (seen.confirmed !== (seen.place === 'committed')) broken('a speculative turn is not confirmed');
        if ([...turns.values()].some(({ engine }) => engine === 'runs')) broken('one engine runs at a time');
        change(effect.itemId, { engine: 'runs' });
        break;
      case 'confirm':
        if (seen.confirmed || seen.place !== 'committed') broken('a commit is confirmed once');
        change(effect.itemId, { confirmed: true });
        break;
      case 'stop':
        if (seen.engine === 'none' || seen.engine === 'stopped') broken('only a started turn is stopped');
        if (seen.terminal) broken('a finished turn is not stopped');
        change(effect.itemId, { engine: 'stopped' });
        break;
      case 'abandon':
        if (seen.engine !== 'none' || seen.place === 'open') broken('only a waiting turn is abandoned');
        change(effect.itemId, { engine: 'stopped' });
    }
  }

  const all = [...turns.values()];
  const due = all.filter(({ place, terminal }) => place === 'committed' && !terminal);
  if (isOver && all.some(({ engine }) => engine === 'runs')) broken('closing stops every engine');
  for (const { confirmed } of isOver ? due : []) if (!confirmed) broken('each commit has a usage row');
  if (!isOver) {
    if (isBusy(state) !== due.length > 0) broken('busy means that a result is pending');
    if (due.length > 0 && due.every(({ engine }) => engine === 'none')) {
      const holder = all.some(({ place, engine }) => place === 'open' && engine !== 'none');
      if (!holder) broken('a turn waits only behind another turn');
    }
    const idle = all.every(
      ({ place, engine }) => engine !== 'runs' && (place !== 'open' || engine === 'ended'),
    );
    if (idle && due.some(({ engine }) => engine === 'ended'))
      broken('the result of a committed turn is sent');
    for (const [itemId, { place, terminal }] of turns) {
      if (hasTurn(state, itemId) !== (place !== 'gone' && !terminal))
        broken('only unfinished turns are known');
    }
  }
  return { turns, closed: isOver };
}

function eventsOf(itemId: ItemId): Event[] {
  return [
    opened(itemId),
    committed(itemId),
    dropped(itemId),
    delta(itemId),
    completed(itemId),
    failed(itemId),
  ];
}

describe('every sequence of events', () => {
  it('keeps the rules: three turns, 7 events deep', () => {
    const alphabet = [...eventsOf(A), ...eventsOf(B), ...eventsOf(C), closed];
    let steps = 0;
    const walk = (state: State, tracker: Tracker, depth: number) => {
      for (const event of alphabet) {
        if (!isPossible(tracker, event)) continue;
        // The turns are equivalent, so they always occur in the same order.
        if ('itemId' in event && event.itemId === B && !tracker.turns.has(A)) continue;
        if ('itemId' in event && event.itemId === C && !tracker.turns.has(B)) continue;
        const step = next(state, event);
        const seen = track(tracker, event, step);
        steps += 1;
        // Unchanged states are not explored again.
        if (depth > 1 && step.state !== state) walk(step.state, seen, depth - 1);
      }
    };
    walk(initial, UNSEEN, 7);
    expect(steps).toBeGreaterThan(10_000);
  });

  it('keeps the rules in long random walks over five turns, and every committed turn finishes', () => {
    const ids = ['item_1', 'item_2', 'item_3', 'item_4', 'item_5'] as const;
    const events = fc.constantFrom(...ids.flatMap(eventsOf), ...ids.map((id) => delta(id, '')));
    fc.assert(
      fc.property(fc.array(events, { maxLength: 80 }), fc.boolean(), (walk, closes) => {
        let [state, tracker] = [initial, UNSEEN];
        const take = (event: Event) => {
          if (!isPossible(tracker, event)) return;
          const step = next(state, event);
          tracker = track(tracker, event, step);
          state = step.state;
        };
        for (const event of walk) take(event);
        if (closes) take(closed);
        // Open turns are committed or dropped, and engines finish.
        for (const id of ids) if (tracker.turns.get(id)?.place === 'open') take(dropped(id));
        for (const _ of ids) for (const id of ids) take(completed(id));
        if (closes) expect(state.kind).toBe('closed');
        else expect(state).toEqual(initial);
      }),
      { numRuns: repetitions(500, 1500) },
    );
  });
});
