import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BuiltInResult } from '../../../plugins/responses/responses/items/built-in-tools.ts';
import type { RequestEcho } from '../../../plugins/responses/responses/items/response-object.ts';
import { next, start } from '../../../plugins/responses/responses/stream/events.ts';
import type { ResponseAction, ResponseState } from '../../../plugins/responses/responses/stream/state.ts';
import { applyEvent, EMPTY_RESPONSE, textOf, viewOf } from './response-fold.ts';
import type { OutputItem, ResponseBody, StreamEvent } from './response-wire.ts';

/** Uses the event builders of the service. */

const ECHO = { model: 'm', store: true, previous_response_id: null } as RequestEcho;
const HEAD = { id: 'resp_1', createdAt: 1_765_000_000, echo: ECHO } as const;
const FOR_MODEL = { name: 'tool', arguments: '{}', text: 'private' };
const TOKENS = { input: 12, output: 5, cached: 4, reasoning: 2 };
const INCLUDE = ['code_interpreter_call.outputs', 'web_search_call.action.sources'] as const;

/** All events of a response for these actions; actions that are invalid in the current state are skipped. */
function eventsOf(actions: readonly ResponseAction[]): StreamEvent[] {
  const first = start(HEAD, INCLUDE);
  const events: StreamEvent[] = [...first.events];
  let state: ResponseState = first.state;
  for (const action of actions) {
    try {
      const step = next(state, action);
      events.push(...step.events);
      state = step.state;
    } catch {
      // Invalid in this state.
    }
  }
  return events;
}

const shown = (events: readonly StreamEvent[]) => events.reduce(applyEvent, EMPTY_RESPONSE);

const toolResult = (result: Partial<BuiltInResult>): ResponseAction => ({
  kind: 'tool_finished',
  result: { status: 'completed', text: 'found', ...result },
  forModel: FOR_MODEL,
});
const SOURCES = [{ url: 'https://example.com/a', title: 'A' }] as NonNullable<BuiltInResult['sources']>;
const END: ResponseAction = { kind: 'finished', reason: 'stop', tokens: TOKENS, at: 1_765_000_009 };
const text = (said: string): ResponseAction => ({ kind: 'text', text: said });

const action: fc.Arbitrary<ResponseAction> = fc.oneof(
  fc.string().map(text),
  fc.string().map((said) => ({ kind: 'reasoning', text: said }) as const),
  fc.string().map((said) => ({ kind: 'refusal', text: said }) as const),
  fc.nat(3).map((index) => ({ kind: 'tool_call', index, id: `call_${index}`, name: 'weather' }) as const),
  fc
    .tuple(fc.nat(3), fc.string())
    .map(([index, said]) => ({ kind: 'tool_arguments', index, text: said }) as const),
  fc
    .constantFrom('web_search', 'code_interpreter')
    .map((type) => ({ kind: 'tool_named', type: type as 'web_search', container: 'cntr_1' }) as const),
  fc.constant({ kind: 'tool_started', input: 'birds' } as const),
  fc
    .constantFrom('completed', 'failed', 'incomplete')
    .map((status) => toolResult({ status: status as 'completed', sources: SOURCES })),
);

test('folding the events results in the response of the final event', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const events = eventsOf([...actions, { kind: 'disconnected' }]);
      const { response } = events.at(-1) as unknown as { response: ResponseBody };
      expect(shown(events.slice(0, -1)).output).toEqual(response.output);
      expect(shown(events)).toEqual(viewOf(response));
    }),
    { numRuns: 200, seed: 7 },
  );
});

/** Text of all messages, without reasoning. */
function messageText(output: readonly OutputItem[]): string {
  return output.flatMap((item) => (item.type === 'message' ? item.content.map(textOf) : [])).join('');
}

describe('a streamed response', () => {
  test('has the text so far', () => {
    const events = eventsOf([text('Robin'), text(', wren'), END]);
    const texts = events.map((_, index) => messageText(shown(events.slice(0, index + 1)).output));
    expect(new Set(texts)).toEqual(new Set(['', 'Robin', 'Robin, wren']));
    expect(shown(events)).toMatchObject({ id: 'resp_1', status: 'completed', usage: { total_tokens: 17 } });
  });

  test('has the arguments of a function call', () => {
    const events = eventsOf([
      { kind: 'tool_call', index: 0, id: 'theirs', name: 'weather' },
      { kind: 'tool_arguments', index: 0, text: '{"city":' },
    ]);
    expect(shown(events).output).toMatchObject([
      { name: 'weather', arguments: '{"city":', status: 'in_progress' },
    ]);
  });

  test('has the code, status and output of a program', () => {
    const actions: ResponseAction[] = [
      { kind: 'tool_named', type: 'code_interpreter', container: 'cntr_1' },
      { kind: 'tool_started', input: 'print(2)' },
    ];
    expect(shown(eventsOf(actions)).output).toMatchObject([{ code: 'print(2)', status: 'interpreting' }]);
    const after = [...actions, toolResult({ outputs: [{ type: 'logs', logs: '2\n' }] })];
    expect(shown(eventsOf(after)).output).toMatchObject([
      { status: 'completed', outputs: [{ logs: '2\n' }] },
    ]);
  });
});

test('has the reason of a failure or an early end', () => {
  const removeFrom = eventsOf([text('Robin'), { ...END, reason: 'length' } as ResponseAction]);
  expect(shown(removeFrom)).toMatchObject({
    status: 'incomplete',
    problem: 'Incomplete: max_output_tokens.',
  });
  const failed = eventsOf([
    text('Robin'),
    { kind: 'failed', error: { code: 'server_error', message: 'The model failed.' } },
  ]);
  expect(shown(failed)).toMatchObject({ status: 'failed', problem: 'The model failed.' });
});

test('unknown events are ignored', () => {
  const events = eventsOf([text('Robin')]);
  const before = shown(events);
  for (const event of [
    { type: 'response.audio.delta', sequence_number: 9, delta: 'x' },
    { type: 'response.output_text.delta', sequence_number: 9, output_index: 5, content_index: 0, delta: 'x' },
    { type: 'response.function_call_arguments.delta', sequence_number: 9, output_index: 0, delta: 'x' },
  ]) {
    expect(applyEvent(before, event)).toEqual(before);
  }
});
