import { TypeCompiler } from '@sinclair/typebox/compiler';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Id } from '../../../src/contract/core/id.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { type Dialect, toDialect } from '../protocol/dialect.ts';
import type { WireError } from '../protocol/errors.ts';
import { SERVER_EVENT_SCHEMAS, type ServerEvent } from '../protocol/server-events.ts';
import type { ResponseTemplate } from './response-events.ts';
import {
  type Effect,
  type Event,
  initial,
  next,
  type State,
  type SynthesisEvent,
} from './response-machine.ts';

type ResponseId = Id<'resp_'>;
const R = 'resp_R';
const OTHER = 'resp_other';

const ERROR: WireError = { type: 'server_error', code: 'upstream_error', message: 'The engine failed.' };
const TEMPLATE: ResponseTemplate = {
  conversationId: 'conv_1',
  format: { type: 'audio/pcmu', rate: 8000 },
  voice: 'tts-vc-voice_9',
  metadata: null,
};

type Create = Event & { kind: 'create_requested' };

function create(responseId: ResponseId = R, fields: Partial<Create> = {}): Create {
  return {
    kind: 'create_requested',
    eventId: 'c7',
    responseId,
    itemId: `item_${responseId}`,
    previousItemId: 'item_1',
    text: 'Hello there. How are you?',
    canSpeak: true,
    template: TEMPLATE,
    ...fields,
  };
}

const cancel = (responseId?: string): Event => ({ kind: 'cancel_requested', eventId: 'c8', responseId });
const closed: Event = { kind: 'closed' };
const sentence = (responseId: ResponseId, text = 'Hello there. '): SynthesisEvent => ({
  kind: 'sentence_started',
  responseId,
  text,
});
const audio = (responseId: ResponseId): SynthesisEvent => ({
  kind: 'audio_generated',
  responseId,
  base64: 'AAAA',
});
const ended = (responseId: ResponseId): SynthesisEvent => ({
  kind: 'synthesis_completed',
  responseId,
  tokens: { input: 7, output: 28 },
});
const failed = (responseId: ResponseId): SynthesisEvent => ({
  kind: 'synthesis_failed',
  responseId,
  error: ERROR,
});

function run(events: readonly Event[], from: State = initial) {
  const effects: Effect[] = [];
  let state = from;
  for (const event of events) {
    const step = next(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects, sent: sentBy(effects) };
}

function sentBy(effects: readonly Effect[]): ServerEvent[] {
  return effects.flatMap((effect) => (effect.kind === 'send' ? [effect.event] : []));
}

const CHECKERS = new Map(
  (['spec', 'ga'] as const).map((dialect) => [
    dialect,
    new Map([...SERVER_EVENT_SCHEMAS[dialect]].map(([type, schema]) => [type, TypeCompiler.Compile(schema)])),
  ]),
);

function expectValid(event: ServerEvent): void {
  for (const dialect of ['spec', 'ga'] satisfies Dialect[]) {
    for (const wire of toDialect(event, dialect)) {
      const checker = CHECKERS.get(dialect)?.get(wire.type);
      const error = checker?.Errors({ ...wire, event_id: 'event_1' }).First();
      if (checker === undefined || error !== undefined)
        throw new Error(`${wire.type}: ${error?.path} ${error?.message}`);
    }
  }
}

function effectName(effect: Effect): string {
  if (effect.kind !== 'send') return effect.kind;
  const { event } = effect;
  return event.type === 'error' ? `error ${event.error.code}` : event.type.replace(/^response\./, '');
}

function stateName(state: State): string {
  return state.kind === 'speaking' ? `speaking R, ${state.sentences.length}` : state.kind;
}

describe('the table of docs/states/response.md', () => {
  const STATES = {
    idle: initial,
    'speaking R, 0': run([create()]).state,
    'speaking R, 2': run([create(), sentence(R), sentence(R)]).state,
    closed: run([closed]).state,
  };
  const EVENTS = {
    create: create(R),
    'create without audio modality': create(R, { canSpeak: false }),
    'create without user text': create(R, { text: undefined }),
    cancel: cancel(),
    'cancel of R': cancel(R),
    'cancel of another': cancel(OTHER),
    'sentence of R started': sentence(R),
    'audio of R generated': audio(R),
    'synthesis of R completed': ended(R),
    'synthesis of R failed': failed(R),
    'sentence of another started': sentence(OTHER),
    'audio of another generated': audio(OTHER),
    'synthesis of another completed': ended(OTHER),
    'synthesis of another failed': failed(OTHER),
    'connection closed': closed,
  };

  it('matches the machine in every cell', () => {
    const table = machineTable(STATES, EVENTS, (state, event) => {
      const step = next(state, event);
      const effects = step.effects.map(effectName).join(', ');
      const changed = stateName(step.state) === stateName(state) ? '' : `→ ${stateName(step.state)}`;
      return [effects, changed].filter((part) => part !== '').join(' ') || '–';
    });
    expect(documentedTable('response')).toEqual(table);
  });

  it('has a row for each state', () => {
    for (const [name, state] of Object.entries(STATES)) expect(stateName(state)).toBe(name);
  });
});

describe('the payloads (openai-wire 8.5 to 8.7, 8.10 C)', () => {
  const ids = { response_id: R, item_id: 'item_resp_R', output_index: 0, content_index: 0 };
  const response = {
    object: 'realtime.response',
    id: R,
    conversation_id: 'conv_1',
    output_modalities: ['audio'],
    max_output_tokens: 'inf',
    audio: { output: { format: { type: 'audio/pcmu', rate: 8000 }, voice: 'tts-vc-voice_9' } },
    metadata: null,
  };
  const item = { id: 'item_resp_R', object: 'realtime.item', type: 'message', role: 'assistant' };
  const empty = { ...item, status: 'in_progress', content: [] };
  const BEGINNING = [
    {
      type: 'response.created',
      response: { ...response, status: 'in_progress', status_details: null, output: [], usage: null },
    },
    { type: 'response.output_item.added', response_id: R, output_index: 0, item: empty },
    { type: 'conversation.item.added', previous_item_id: 'item_1', item: empty },
    { type: 'response.content_part.added', ...ids, part: { type: 'audio', transcript: '' } },
  ];

  function end(transcript: string, status: 'completed' | 'incomplete', fields: object) {
    const part = { type: 'audio', transcript };
    const done = { ...item, status, content: [part] };
    return [
      { type: 'response.audio.done', ...ids },
      { type: 'response.content_part.done', ...ids, part },
      { type: 'conversation.item.done', previous_item_id: 'item_1', item: done },
      { type: 'response.output_item.done', response_id: R, output_index: 0, item: done },
      { type: 'response.done', response: { ...response, ...fields, output: [done] } },
    ];
  }

  it('of a completed response are as specified', () => {
    const walk = [create(), sentence(R), audio(R), sentence(R, 'How are you?'), ended(R)];
    expect(run(walk).sent).toEqual([
      ...BEGINNING,
      { type: 'response.audio.delta', ...ids, delta: 'AAAA' },
      { type: 'response.audio_transcript.delta', ...ids, delta: 'Hello there. ' },
      { type: 'response.audio_transcript.delta', ...ids, delta: 'How are you?' },
      { type: 'response.audio_transcript.done', ...ids, transcript: 'Hello there. How are you?' },
      ...end('Hello there. How are you?', 'completed', {
        status: 'completed',
        status_details: null,
        usage: {
          total_tokens: 35,
          input_tokens: 7,
          output_tokens: 28,
          input_token_details: {
            text_tokens: 7,
            audio_tokens: 0,
            image_tokens: 0,
            cached_tokens: 0,
            cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
          },
          output_token_details: { text_tokens: 0, audio_tokens: 28 },
        },
      }),
    ]);
  });

  it('of a cancelled response contain the text that was started', () => {
    expect(run([create(), sentence(R), audio(R), cancel()]).sent).toEqual([
      ...BEGINNING,
      { type: 'response.audio.delta', ...ids, delta: 'AAAA' },
      ...end('Hello there. ', 'incomplete', {
        status: 'cancelled',
        status_details: { type: 'cancelled', reason: 'client_cancelled' },
        usage: null,
      }),
    ]);
  });

  it('of a failed response contain the text that was started, and the error', () => {
    expect(run([create(), sentence(R), failed(R)]).sent).toEqual([
      ...BEGINNING,
      ...end('Hello there. ', 'incomplete', {
        status: 'failed',
        status_details: { type: 'failed', error: ERROR },
        usage: null,
      }),
    ]);
  });

  it('omit the default voice and echo the metadata', () => {
    const template = { ...TEMPLATE, voice: undefined, metadata: { topic: 'greeting' } };
    const [first] = run([create(R, { template, previousItemId: null })]).sent;
    expect(first).toMatchObject({ response: { metadata: { topic: 'greeting' } } });
    expect(JSON.stringify(first)).toContain(
      '"audio":{"output":{"format":{"type":"audio/pcmu","rate":8000}}}',
    );
  });

  it('are valid in both dialects', () => {
    const walks = [
      [create(), sentence(R), audio(R), ended(R)],
      [create(), sentence(R), cancel(R)],
      [create(), failed(R)],
      [create(R, { previousItemId: null }), cancel()],
      [create(), create(OTHER), cancel(OTHER), cancel(), cancel()],
      [create(R, { canSpeak: false }), create(R, { text: undefined })],
    ];
    for (const event of walks.flatMap((walk) => run(walk).sent)) expectValid(event);
  });
});

describe('errors (spec 6.1, 7; openai-wire 8.8)', () => {
  it.each<[string, readonly Event[], string, RegExp, string | null]>([
    [
      'create while one is active',
      [create(), create(OTHER)],
      'response_in_progress',
      /response\.create/,
      'c7',
    ],
    [
      'create without audio',
      [create(R, { canSpeak: false })],
      'invalid_request_error',
      /response\.create/,
      'c7',
    ],
    [
      'create without text',
      [create(R, { text: undefined })],
      'invalid_request_error',
      /response\.create/,
      'c7',
    ],
    [
      'create without event_id',
      [create(R, { text: undefined, eventId: null })],
      'invalid_request_error',
      /./,
      null,
    ],
    [
      'cancel without a response',
      [cancel()],
      'invalid_request_error',
      /no response in progress to cancel/,
      'c8',
    ],
    [
      'cancel of another',
      [create(), cancel(OTHER)],
      'invalid_request_error',
      /no response in progress to cancel/,
      'c8',
    ],
    [
      'a second cancel',
      [create(), cancel(), cancel()],
      'invalid_request_error',
      /no response in progress to cancel/,
      'c8',
    ],
  ])('%s', (_, events, code, message, eventId) => {
    const { sent } = run(events);
    expect(sent.at(-1)).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code,
        message: expect.stringMatching(message),
        event_id: eventId,
      },
    });
    expect(sent.filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  it('for another response name the field', () => {
    expect(run([create(), cancel(OTHER)]).sent.at(-1)).toMatchObject({ error: { param: 'response_id' } });
  });
});

/**
 * Successors of each event of a response (order rule 3). After `failed` and `cancelled`, `delta` is followed
 * by `audio.done`.
 */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  '': ['response.created'],
  'response.created': ['response.output_item.added'],
  'response.output_item.added': ['conversation.item.added'],
  'conversation.item.added': ['response.content_part.added'],
  'response.content_part.added': [
    'response.audio.delta',
    'response.audio_transcript.delta',
    'response.audio_transcript.done',
    'response.audio.done',
  ],
  'response.audio.delta': [
    'response.audio.delta',
    'response.audio_transcript.delta',
    'response.audio_transcript.done',
    'response.audio.done',
  ],
  'response.audio_transcript.delta': ['response.audio_transcript.delta', 'response.audio_transcript.done'],
  'response.audio_transcript.done': ['response.audio.done'],
  'response.audio.done': ['response.content_part.done'],
  'response.content_part.done': ['conversation.item.done'],
  'conversation.item.done': ['response.output_item.done'],
  'response.output_item.done': ['response.done'],
  'response.done': [],
};

/** Tracks a run by its events only. */
interface Tracker {
  /** The response whose synthesis was started and has not been stopped or finished. */
  readonly running: string | undefined;
  /** The response whose events were sent, its last event, and the text that was started. */
  readonly current: string | undefined;
  readonly last: string;
  readonly startedEvents: string;
  readonly spokeTranscript: boolean;
  readonly closed: boolean;
}

const UNSEEN: Tracker = {
  running: undefined,
  current: undefined,
  last: '',
  startedEvents: '',
  spokeTranscript: false,
  closed: false,
};

function broken(rule: string): never {
  throw new Error(rule);
}

function track(tracker: Tracker, event: Event, effects: readonly Effect[]): Tracker {
  let { running, current, last, startedEvents, spokeTranscript } = tracker;
  const isActive = () => current !== undefined && last !== 'response.done';
  const wasActive = isActive();
  const over = tracker.closed || event.kind === 'closed';
  const isSynthesisEvent =
    'responseId' in event && event.kind !== 'create_requested' && event.kind !== 'cancel_requested';
  if (isSynthesisEvent && event.responseId !== running && effects.length > 0)
    broken('a late event has no effect');
  if (event.kind === 'sentence_started' && event.responseId === running) startedEvents += event.text;
  if (event.kind === 'synthesis_completed' || event.kind === 'synthesis_failed') {
    if (event.responseId === running) running = undefined;
  }
  let answers = 0;
  for (const effect of effects) {
    if (effect.kind === 'synthesize') {
      if (running !== undefined) broken('at most one response');
      if (effect.responseId !== current || last !== 'response.content_part.added')
        broken('a response is created before its synthesis starts');
      running = effect.responseId;
    } else if (effect.kind === 'stop') {
      if (effect.responseId !== running) broken('only a running synthesis is stopped');
      running = undefined;
    } else if (effect.event.type === 'error') {
      answers += 1;
      if (event.kind !== 'create_requested' && event.kind !== 'cancel_requested')
        throw broken('only requests are rejected');
      if (effect.event.error.event_id !== event.eventId) broken('an error refers to its event');
    } else {
      const sent = effect.event;
      if (over) broken('nothing is sent once the connection is closed');
      if (sent.type === 'response.created') {
        if (isActive()) broken('at most one response');
        if (event.kind !== 'create_requested' || sent.response.id !== event.responseId)
          throw broken('response.created follows a request');
        current = sent.response.id;
        [last, startedEvents, spokeTranscript] = ['', '', false];
        answers += 1;
      }
      if (!FOLLOWS[last]?.includes(sent.type)) broken(`${sent.type} does not follow ${last}`);
      const names = JSON.stringify(sent).match(/resp_\w+/g) ?? [];
      if (names.some((name) => name !== current && `item_${name}` !== `item_${current}`))
        broken('all events have the same id');
      if (sent.type === 'response.audio_transcript.done') {
        spokeTranscript = true;
        if (sent.transcript !== startedEvents) broken('the transcript is the started text');
      }
      if (sent.type === 'response.done') {
        if ((sent.response.status === 'completed') !== spokeTranscript)
          broken('only a completed response has transcript events');
        if (JSON.stringify(sent.response.output).includes('in_progress')) broken('the item is finished');
        if (running !== undefined) broken('the synthesis was stopped');
        if (event.kind === 'cancel_requested') answers += 1;
      }
      last = sent.type;
    }
  }
  const isRequest = event.kind === 'create_requested' || event.kind === 'cancel_requested';
  if (answers !== (isRequest && !tracker.closed ? 1 : 0)) broken('every request has one result');
  if (over && running !== undefined) broken('closing stops the synthesis');
  if (!over && isActive() !== (running !== undefined)) broken('the active response is being synthesized');
  if (wasActive && event.kind === 'create_requested' && !tracker.closed && current !== tracker.current) {
    broken('a second create changes nothing');
  }
  return { running, current, last, startedEvents, spokeTranscript, closed: over };
}

function factsOf(responseId: ResponseId): SynthesisEvent[] {
  return [sentence(responseId), audio(responseId), ended(responseId), failed(responseId)];
}

describe('every sequence of events', () => {
  it('keeps the rules: 6 events deep, with late events of the previous response', () => {
    let steps = 0;
    const walk = (state: State, tracker: Tracker, createdCount: number, depth: number) => {
      const fresh: ResponseId = `resp_${createdCount + 1}`;
      const alphabet: Event[] = [
        create(fresh),
        create(fresh, { canSpeak: false }),
        create(fresh, { text: undefined }),
        cancel(),
        cancel(`resp_${createdCount}`),
        cancel(OTHER),
        ...factsOf(`resp_${createdCount}`),
        ...(createdCount > 1 ? factsOf(`resp_${createdCount - 1}`) : []),
        closed,
      ];
      for (const event of alphabet) {
        const step = next(state, event);
        const seen = track(tracker, event, step.effects);
        steps += 1;
        // Unchanged states are not explored again, except after audio, which was sent.
        if (depth > 1 && (step.state !== state || event.kind === 'audio_generated')) {
          walk(
            step.state,
            seen,
            event.kind === 'create_requested' ? createdCount + 1 : createdCount,
            depth - 1,
          );
        }
      }
    };
    walk(initial, UNSEEN, 0, 6);
    expect(steps).toBeGreaterThan(10_000);
  });

  it('keeps the rules in long random walks, and sends valid events in both dialects', () => {
    const events = fc.array(fc.record({ what: fc.nat({ max: 10 }), back: fc.nat({ max: 2 }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(events, (walk) => {
        let [state, tracker, createdCount] = [initial, UNSEEN, 0];
        for (const { what, back } of walk) {
          const earlier: ResponseId = `resp_${createdCount - back}`;
          const choices: Event[] = [
            create(`resp_${createdCount + 1}`),
            create(`resp_${createdCount + 1}`, { canSpeak: false, eventId: null }),
            create(`resp_${createdCount + 1}`, { text: undefined }),
            cancel(),
            cancel(earlier),
            ...factsOf(earlier),
            audio(`resp_${createdCount}`),
            sentence(`resp_${createdCount}`, 'And more. '),
          ];
          const event = choices[what] ?? closed;
          const step = next(state, event);
          tracker = track(tracker, event, step.effects);
          if (step.state !== state && event.kind === 'create_requested') createdCount += 1;
          state = step.state;
          for (const sent of sentBy(step.effects)) expectValid(sent);
        }
      }),
      { numRuns: repetitions(100, 300) },
    );
  });
});
