import { describe, expect, test } from 'vitest';
import {
  type Conversation,
  type ConversationAction,
  continuedId,
  inputOf,
  itemsOf,
  MAX_EVENTS,
  openCalls,
  reduceConversation,
} from './conversation.ts';
import type { CallItem, ResponseBody } from './response-wire.ts';

const CALL: CallItem = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
};

const response = (id: string, changes: Partial<ResponseBody> = {}): ResponseBody => ({
  id,
  status: 'completed',
  model: 'm',
  store: true,
  previous_response_id: null,
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
  ...changes,
});
const input = (key: number): ConversationAction => ({
  kind: 'requested',
  key,
  input: itemsOf('Hello'),
  body: { model: 'm', input: 'Hello' },
  atMs: 100,
});
const responded = (key: number, changes?: Partial<ResponseBody>): ConversationAction => ({
  kind: 'responded',
  key,
  response: response(`resp_${key}`, changes),
  atMs: 400,
});
const turnsAfter = (...acts: readonly ConversationAction[]): Conversation =>
  acts.reduce(reduceConversation, []);
const created = (id: string) => ({
  type: 'response.created',
  sequence_number: 0,
  response: response(id, { status: 'in_progress' }),
});

describe('the next turn continues', () => {
  test.each<[string, string | undefined, ConversationAction[]]>([
    ['no response at the start', undefined, []],
    ['the last response', 'resp_2', [input(1), responded(1), input(2), responded(2)]],
    [
      'the response before a removed turn',
      'resp_1',
      [input(1), responded(1), input(2), responded(2), { kind: 'removed', key: 2 }],
    ],
    [
      'no response if all turns are removed',
      undefined,
      [input(1), responded(1), { kind: 'removed', key: 1 }],
    ],
    ['no response that was not stored', undefined, [input(1), responded(1, { store: false })]],
    [
      'no response that continues a deleted one',
      undefined,
      [input(1), responded(1), input(2), responded(2), { kind: 'deleted', key: 1 }],
    ],
    [
      'a response that was stopped after it started',
      'resp_9',
      [
        input(1),
        { kind: 'event', key: 1, event: created('resp_9'), atMs: 200 },
        { kind: 'stopped', key: 1, atMs: 300 },
      ],
    ],
    [
      'an opened stored response',
      'resp_b',
      [
        {
          kind: 'opened',
          turns: [
            { key: 1, input: [], response: response('resp_a') },
            { key: 2, input: [], response: response('resp_b') },
          ],
        },
      ],
    ],
  ])('%s', (_, id, acts) => {
    expect(continuedId(turnsAfter(...acts))).toBe(id);
  });
});

test('a turn has the times of its first event and of its end', () => {
  const [turn] = turnsAfter(
    input(1),
    { kind: 'event', key: 1, event: created('resp_1'), atMs: 150 },
    { kind: 'event', key: 1, event: created('resp_1'), atMs: 160 },
    { kind: 'finished', key: 1, atMs: 190 },
    { kind: 'stopped', key: 1, atMs: 999 },
  );
  expect(turn).toMatchObject({ state: 'finished', times: { sentMs: 100, firstMs: 150, finishedMs: 190 } });
});

test('events are retained up to a limit, and all of them are applied', () => {
  const delta = (index: number) => ({ type: 'unknown', sequence_number: index });
  const events = Array.from({ length: MAX_EVENTS + 5 }, (_, index) => delta(index));
  const action = [created('resp_1'), ...events].map(
    (event) => ({ kind: 'event', key: 1, event, atMs: 1 }) as const,
  );
  const [turn] = turnsAfter(input(1), ...action);
  expect(turn?.events).toHaveLength(MAX_EVENTS);
  expect(turn?.events.at(-1)).toEqual(delta(MAX_EVENTS + 4));
  expect(turn?.view.id).toBe('resp_1');
});

test('a request that is rejected or stopped before its first event leaves no turn; a later failure keeps it', () => {
  const error: ConversationAction = { kind: 'failed', key: 2, message: 'No.', atMs: 5 };
  expect(turnsAfter(input(1), responded(1), input(2), error)).toHaveLength(1);
  expect(turnsAfter(input(1), responded(1), input(2), { kind: 'stopped', key: 2, atMs: 5 })).toHaveLength(1);
  const isStarted: ConversationAction = { kind: 'event', key: 2, event: created('resp_2'), atMs: 4 };
  const [turn] = turnsAfter(input(2), isStarted, error);
  expect(turn).toMatchObject({ state: 'failed', view: { problem: 'No.' } });
});

describe('pending function calls', () => {
  const called = [input(1), responded(1, { output: [CALL] })];
  test('are those of the last turn', () => {
    expect(openCalls(turnsAfter(...called))).toEqual([CALL]);
    expect(openCalls(turnsAfter(...called, input(2)))).toEqual([]);
    expect(openCalls(turnsAfter(...called, input(2), responded(2)))).toEqual([]);
    expect(openCalls(turnsAfter(...called, { kind: 'deleted', key: 1 }))).toEqual([]);
    expect(openCalls([])).toEqual([]);
  });

  test('have their results sent before a text', () => {
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'rain' };
    const results = [{ callId: 'call_1', output: 'rain' }];
    expect(inputOf('', results)).toEqual([result]);
    expect(inputOf('Why?', results)).toEqual([result, { role: 'user', content: 'Why?' }]);
    expect(inputOf('Why?', [])).toBe('Why?');
  });
});
