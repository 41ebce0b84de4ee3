import { describe, expect, test } from 'vitest';
import {
  type Conversation,
  type ConversationAct,
  continuedId,
  conversed,
  inputOf,
  itemsOf,
  KEPT_EVENTS,
  openCalls,
} from './conversation.ts';
import type { CallItem, ResponseBody } from './response-wire.ts';

const CALL: CallItem = {
  ...{ id: 'fc_1', type: 'function_call', status: 'completed' },
  ...{ call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
};

const response = (id: string, changes: Partial<ResponseBody> = {}): ResponseBody => ({
  ...{ id, status: 'completed', model: 'm', store: true, previous_response_id: null },
  ...{ output: [], usage: null, error: null, incomplete_details: null },
  ...changes,
});
const asked = (key: number): ConversationAct => ({
  ...{ kind: 'asked', key, asked: itemsOf('Hello'), body: { model: 'm', input: 'Hello' }, atMs: 100 },
});
const answered = (key: number, changes?: Partial<ResponseBody>): ConversationAct => ({
  ...{ kind: 'answered', key, response: response(`resp_${key}`, changes), atMs: 400 },
});
const turnsAfter = (...acts: readonly ConversationAct[]): Conversation => acts.reduce(conversed, []);
const created = (id: string) => ({
  ...{ type: 'response.created', sequence_number: 0, response: response(id, { status: 'in_progress' }) },
});

describe('the next turn continues', () => {
  test.each<[string, string | undefined, ConversationAct[]]>([
    ['no response at the start', undefined, []],
    ['the last response', 'resp_2', [asked(1), answered(1), asked(2), answered(2)]],
    [
      'the response before a removed turn',
      'resp_1',
      [asked(1), answered(1), asked(2), answered(2), { kind: 'cut', key: 2 }],
    ],
    ['no response if all turns are removed', undefined, [asked(1), answered(1), { kind: 'cut', key: 1 }]],
    ['no response that was not stored', undefined, [asked(1), answered(1, { store: false })]],
    [
      'no response that continues a deleted one',
      undefined,
      [asked(1), answered(1), asked(2), answered(2), { kind: 'deleted', key: 1 }],
    ],
    [
      'a response that was stopped after it started',
      'resp_9',
      [
        asked(1),
        { kind: 'told', key: 1, event: created('resp_9'), atMs: 200 },
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
            { key: 1, asked: [], response: response('resp_a') },
            { key: 2, asked: [], response: response('resp_b') },
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
    asked(1),
    { kind: 'told', key: 1, event: created('resp_1'), atMs: 150 },
    { kind: 'told', key: 1, event: created('resp_1'), atMs: 160 },
    { kind: 'ended', key: 1, atMs: 190 },
    { kind: 'stopped', key: 1, atMs: 999 },
  );
  expect(turn).toMatchObject({ state: 'ended', times: { sentMs: 100, firstMs: 150, endedMs: 190 } });
});

test('events are retained up to a limit, and all of them are applied', () => {
  const delta = (index: number) => ({ type: 'unknown', sequence_number: index });
  const events = Array.from({ length: KEPT_EVENTS + 5 }, (_, index) => delta(index));
  const told = [created('resp_1'), ...events].map(
    (event) => ({ kind: 'told', key: 1, event, atMs: 1 }) as const,
  );
  const [turn] = turnsAfter(asked(1), ...told);
  expect(turn?.events).toHaveLength(KEPT_EVENTS);
  expect(turn?.events.at(-1)).toEqual(delta(KEPT_EVENTS + 4));
  expect(turn?.view.id).toBe('resp_1');
});

test('a request that is rejected or stopped before its first event leaves no turn; a later failure keeps it', () => {
  const refused: ConversationAct = { kind: 'refused', key: 2, message: 'No.', atMs: 5 };
  expect(turnsAfter(asked(1), answered(1), asked(2), refused)).toHaveLength(1);
  expect(turnsAfter(asked(1), answered(1), asked(2), { kind: 'stopped', key: 2, atMs: 5 })).toHaveLength(1);
  const began: ConversationAct = { kind: 'told', key: 2, event: created('resp_2'), atMs: 4 };
  const [turn] = turnsAfter(asked(2), began, refused);
  expect(turn).toMatchObject({ state: 'refused', view: { problem: 'No.' } });
});

describe('pending function calls', () => {
  const called = [asked(1), answered(1, { output: [CALL] })];
  test('are those of the last turn', () => {
    expect(openCalls(turnsAfter(...called))).toEqual([CALL]);
    expect(openCalls(turnsAfter(...called, asked(2)))).toEqual([]);
    expect(openCalls(turnsAfter(...called, asked(2), answered(2)))).toEqual([]);
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
