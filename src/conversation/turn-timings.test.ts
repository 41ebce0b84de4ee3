import { expect, test } from 'vitest';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import type { ConversationEvent } from './events/server-events.ts';
import { type TurnTiming, TurnTimings } from './turn-timings.ts';

function measured() {
  const clock = new ManualClock();
  const turns: TurnTiming[] = [];
  const stages: unknown[] = [];
  const tracer: typeof noopTracer = {
    ...noopTracer,
    recordSpan: (name, { attributes }, fromMs, toMs) => stages.push([name, attributes?.stage, fromMs, toMs]),
  };
  const timings = new TurnTimings({ clock, tracer, attributes: {}, onTurn: (turn) => turns.push(turn) });
  const observe = (event: object) => timings.observe(event as ConversationEvent);
  const committed = (item_id: string) => observe({ type: 'input_audio_buffer.committed', item_id });
  const created = (id: string, conversation_id: string | null = 'conv_1') =>
    observe({ type: 'response.created', response: { id, conversation_id } });
  const done = (id: string) => observe({ type: 'response.done', response: { id, status: 'completed' } });
  return { clock, turns, stages, timings, observe, committed, created, done };
}

test('the stages of a turn are measured from the end of speech', () => {
  const { clock, turns, stages, timings, observe, committed, created, done } = measured();
  clock.advance(1000);
  timings.endTurn('item_1', 800);
  committed('item_1');
  created('resp_1');
  clock.advance(100);
  observe({ type: 'conversation.item.input_audio_transcription.completed', item_id: 'item_1' });
  timings.receiveToken('resp_1', 700);
  clock.advance(200);
  timings.sendAudio('resp_1');
  clock.advance(200);
  timings.sendAudio('resp_1');
  const timing = { turn_decision: 200, transcript: 300, first_token: 0, first_audio: 500 };
  expect(done('resp_1')).toEqual(timing);
  expect(turns).toEqual([timing]);
  expect(stages).toEqual([
    ['conversation_stage', 'turn_decision', 800, 1000],
    ['conversation_stage', 'transcript', 800, 1100],
    ['conversation_stage', 'first_token', 800, 800],
    ['conversation_stage', 'first_audio', 800, 1300],
  ]);
});

test('only a response to a spoken turn has a timing', () => {
  const { turns, timings, committed, created, done } = measured();
  timings.endTurn('item_1', 0);
  // A response outside the conversation answers no turn.
  created('resp_out', null);
  expect(done('resp_out')).toBeUndefined();
  committed('item_1');
  created('resp_1');
  // A response after a function call.
  created('resp_2');
  expect(done('resp_2')).toBeUndefined();
  expect(done('resp_1')).toEqual({ turn_decision: 0 });
  expect(done('resp_1')).toBeUndefined();
  expect(turns).toHaveLength(1);
});

test('turns without a response are limited, and every span ends once', () => {
  const clock = new ManualClock();
  const open = new Set<number>();
  let spans = 0;
  const tracer: typeof noopTracer = {
    ...noopTracer,
    startSpan: (...args) => {
      const id = spans++;
      open.add(id);
      return { ...noopTracer.startSpan(...args), end: () => void expect(open.delete(id)).toBe(true) };
    },
  };
  const timings = new TurnTimings({ clock, tracer, attributes: {}, onTurn: () => undefined });
  for (let turn = 0; turn < 100; turn++) timings.endTurn(`item_${turn}`, 0);
  expect([spans, open.size]).toEqual([100, 16]);
  timings.close();
  expect(open.size).toBe(0);
});
