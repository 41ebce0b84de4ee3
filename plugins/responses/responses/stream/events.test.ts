import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legalStream } from '../../../../test/generators/legal-stream.ts';
import { documentedTable, machineTable } from '../../../../test/harness/state-table.ts';
import type { BuiltInResult } from '../items/built-in-tools.ts';
import type { RequestEcho } from '../items/response-object.ts';
import { next, responseOf, start } from './events.ts';
import type { ResponseAction, ResponseState } from './state.ts';

const ECHO: RequestEcho = {
  model: 'm',
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  store: true,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
  metadata: {},
};
const HEAD = { id: 'resp_1', createdAt: 1_765_000_000, echo: ECHO } as const;
const TOKENS = { input: 12, output: 5, cached: 4, reasoning: 2 };
const FOR_MODEL = { name: 'tool', arguments: '{}', text: 'private' };

const text = (said = 'Hel'): ResponseAction => ({ kind: 'text', text: said });
const call = (index: number): ResponseAction => ({
  kind: 'tool_call',
  index,
  id: `theirs_${index}`,
  name: 'weather',
});
const args = (index: number, written = '{}'): ResponseAction => ({
  kind: 'tool_arguments',
  index,
  text: written,
});
const named = (type: 'web_search' | 'code_interpreter'): ResponseAction => ({
  kind: 'tool_named',
  type,
  container: 'cntr_1',
});
const ran = (result: Partial<BuiltInResult> = {}): ResponseAction => ({
  kind: 'tool_finished',
  result: { status: 'completed', text: 'found', ...result },
  forModel: FOR_MODEL,
});
const ended = (reason: 'stop' | 'length' | 'content_filter' = 'stop'): ResponseAction => ({
  kind: 'finished',
  reason,
  tokens: TOKENS,
  at: 1_765_000_009,
});
const started: ResponseAction = { kind: 'tool_started', input: 'birds' };
const failed: ResponseAction = {
  kind: 'failed',
  error: { code: 'server_error', message: 'The model failed.' },
};

function run(actions: readonly ResponseAction[], include: Parameters<typeof start>[1] = []) {
  let { state, events } = start(HEAD, include);
  const all = [...events];
  for (const action of actions) {
    ({ state, events } = next(state, action));
    all.push(...events);
  }
  return { state, events: all };
}

const names = (actions: readonly ResponseAction[]) =>
  run(actions).events.map(({ type }) => type.replace('response.', ''));

const after = (...actions: readonly ResponseAction[]) => run(actions).state;
const STATES: Record<string, ResponseState> = {
  none: after(),
  reasoning: after({ kind: 'reasoning', text: 'Hm' }),
  text: after(text()),
  refusal: after({ kind: 'refusal', text: 'No' }),
  call: after(call(0)),
  'search named': after(named('web_search')),
  'search runs': after(named('web_search'), started),
  'code named': after(named('code_interpreter')),
  'code runs': after(named('code_interpreter'), started),
  finished: after(ended()),
};
const ACTIONS: Record<string, ResponseAction> = {
  reasoning: { kind: 'reasoning', text: 'Hm' },
  text: text(),
  'empty text': text(''),
  refusal: { kind: 'refusal', text: 'No' },
  call: call(1),
  'arguments of the call': args(0),
  'arguments of another': args(7),
  'search named': named('web_search'),
  'code named': named('code_interpreter'),
  started,
  completed: ran(),
  'cut off': ran({ status: 'incomplete' }),
  'not done': ran({ status: 'failed' }),
  stop: ended(),
  length: ended('length'),
  filter: ended('content_filter'),
  failed,
  disconnected: { kind: 'disconnected' },
};

function nameOf({ open, response }: ResponseState): string {
  if (response !== undefined) return 'finished';
  switch (open.kind) {
    case 'message':
      return open.part.type === 'refusal' ? 'refusal' : 'text';
    case 'tool':
    case 'running': {
      const tool = open.item.type === 'web_search_call' ? 'search' : 'code';
      return `${tool} ${open.kind === 'tool' ? 'named' : 'runs'}`;
    }
    default:
      return open.kind;
  }
}

function cell(state: ResponseState, action: ResponseAction): string {
  try {
    const step = next(state, action);
    const sent = step.events.map(({ type }) => type.replace('response.', '')).join(', ');
    const [from, to] = [nameOf(state), nameOf(step.state)];
    const moved = from === to ? '' : `→ ${to}`;
    return [sent, moved].filter(Boolean).join(' ') || '–';
  } catch {
    return 'error';
  }
}

it('the machine matches the table in every cell', () => {
  expect(machineTable(STATES, ACTIONS, cell)).toEqual(documentedTable('response-stream'));
});

describe('sequences of openai-wire 6.10', () => {
  const ITEM = ['output_item.added', 'content_part.added'];
  const TEXT = [...ITEM, 'output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done'];
  const CALL = [
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
  ];
  const START = ['created', 'in_progress'];

  it.each<[string, ResponseAction[], string[]]>([
    ['text', [text(), text('lo.'), ended()], [...TEXT, 'output_item.done', 'completed']],
    ['function call', [call(0), args(0, '{'), args(0, '}'), ended()], [...CALL, 'completed']],
    [
      'text then calls',
      [text(), text('lo.'), call(0), args(0), args(0), call(1), args(1), args(1), ended()],
      [...TEXT, 'output_item.done', ...CALL, ...CALL, 'completed'],
    ],
    [
      'reasoning first',
      [{ kind: 'reasoning', text: 'Hm' }, text(), text(), ended()],
      [
        ...ITEM,
        'reasoning_text.delta',
        'reasoning_text.done',
        'content_part.done',
        'output_item.done',
        ...TEXT,
        'output_item.done',
        'completed',
      ],
    ],
    [
      'web search',
      [
        named('web_search'),
        started,
        ran({ sources: [{ url: 'https://birds.test', title: 'Birds' }] }),
        text('See https://'),
        text('birds.test.'),
        ended(),
      ],
      [
        'output_item.added',
        'web_search_call.in_progress',
        'web_search_call.searching',
        'web_search_call.completed',
        'output_item.done',
        ...ITEM,
        'output_text.delta',
        'output_text.delta',
        'output_text.annotation.added',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'completed',
      ],
    ],
    [
      'code interpreter',
      [named('code_interpreter'), started, ran(), text(), text(), ended()],
      [
        'output_item.added',
        'code_interpreter_call.in_progress',
        'code_interpreter_call_code.delta',
        'code_interpreter_call_code.done',
        'code_interpreter_call.interpreting',
        'code_interpreter_call.completed',
        'output_item.done',
        ...TEXT,
        'output_item.done',
        'completed',
      ],
    ],
    ['limit', [text(), text(), ended('length')], [...TEXT, 'output_item.done', 'incomplete']],
    ['filter', [text(), text(), ended('content_filter')], [...TEXT, 'output_item.done', 'incomplete']],
    ['failure', [text(), text(), failed], [...TEXT, 'output_item.done', 'failed']],
  ])('%s', (_, actions, expected) => {
    expect(names(actions)).toEqual([...START, ...expected]);
    legalStream(run(actions).events);
  });
});

describe('the final event', () => {
  it('of an incomplete response contains the reason, and its item is incomplete', () => {
    const { state } = run([text(), ended('length')]);
    expect(responseOf(state)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      output_text: 'Hel',
      completed_at: null,
    });
    expect(responseOf(run([ended('content_filter')]).state)).toMatchObject({
      incomplete_details: { reason: 'content_filter' },
    });
  });

  it('of a failed response contains the output so far and the error', () => {
    expect(responseOf(run([text(), failed]).state)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'The model failed.' },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
      usage: null,
    });
  });

  it('of a disconnected client is incomplete without a reason', () => {
    expect(responseOf(run([text(), { kind: 'disconnected' }]).state)).toMatchObject({
      status: 'incomplete',
      incomplete_details: null,
    });
  });

  it('of a response without output contains an empty message', () => {
    expect(responseOf(run([ended()]).state)).toMatchObject({
      status: 'completed',
      completed_at: 1_765_000_009,
      output: [{ type: 'message', content: [{ type: 'output_text', text: '' }] }],
      output_text: '',
    });
  });

  it('contains the token counts', () => {
    expect(responseOf(run([text(), ended()]).state).usage).toEqual({
      input_tokens: 12,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 17,
    });
  });
});

describe('built-in tools', () => {
  const actions = [
    named('web_search'),
    started,
    ran({ sources: [{ url: 'https://birds.test', title: 'Birds' }] }),
    named('code_interpreter'),
    { kind: 'tool_started', input: 'print(1)' } as const,
    ran({ outputs: [{ type: 'logs', logs: '1\n' }] }),
    ended(),
  ];

  it('are returned without internal fields, and with their results only if included', () => {
    const { events } = run(actions);
    expect(JSON.stringify(events)).not.toContain('private');
    expect(events.at(-1)?.response).toMatchObject({
      output: [
        { type: 'web_search_call', status: 'completed', action: { query: 'birds', queries: ['birds'] } },
        { type: 'code_interpreter_call', code: 'print(1)', container_id: 'cntr_1', outputs: null },
      ],
    });
    const all = run(actions, ['web_search_call.action.sources', 'code_interpreter_call.outputs']);
    expect(all.events.at(-1)?.response).toMatchObject({
      output: [
        { action: { sources: [{ type: 'url', url: 'https://birds.test' }] } },
        { outputs: [{ type: 'logs', logs: '1\n' }] },
      ],
    });
  });

  it('are stored with all fields', () => {
    expect(responseOf(run(actions).state).output).toMatchObject([
      { for_model: FOR_MODEL, action: { sources: [{ url: 'https://birds.test' }] } },
      { for_model: FOR_MODEL, outputs: [{ logs: '1\n' }] },
    ]);
  });
});

describe('for any actions', () => {
  const said = fc.string({ maxLength: 5 });
  const words = fc.oneof(
    fc.record({ kind: fc.constantFrom('text', 'reasoning', 'refusal'), text: said }),
    fc.constant('call'),
    fc.constantFrom('web_search', 'code_interpreter'),
  );
  const ends = fc.constantFrom<ResponseAction>(ended(), ended('length'), ended('content_filter'), failed, {
    kind: 'disconnected',
  });
  /** Actions as reported by an engine and tools: a call with its arguments, a tool with its run. */
  const actionSequences = fc.tuple(
    fc.array(fc.tuple(words, fc.array(said, { maxLength: 3 })), { maxLength: 12 }),
    ends,
  );

  function factsOf([pieces, end]: [(readonly [unknown, string[]])[], ResponseAction]): ResponseAction[] {
    let calls = 0;
    const actions = pieces.flatMap(([word, more]): ResponseAction[] => {
      if (word === 'call') {
        calls += 1;
        return [call(calls), ...more.map((written) => args(calls, written))];
      }
      if (word !== 'web_search' && word !== 'code_interpreter') return [word as ResponseAction];
      const status = (['completed', 'incomplete', 'failed'] as const)[more.length % 3] ?? 'failed';
      const start = [named(word), { kind: 'tool_started', input: more.join('') } as const];
      return status === 'failed' && more.length > 2
        ? start.slice(0, 1).concat(ran({ status }))
        : [...start, ran({ status })];
    });
    return [...actions, end];
  }

  it('the events are in a legal order', () => {
    fc.assert(
      fc.property(actionSequences, (answer) => legalStream(run(factsOf(answer)).events)),
      { numRuns: 300 },
    );
  });

  it('the response may end at any point', () => {
    fc.assert(
      fc.property(
        actionSequences,
        fc.nat(),
        ends.filter((end) => end.kind !== 'finished'),
        (answer, at, end) => {
          const actions = factsOf(answer).slice(0, -1);
          legalStream(run([...actions.slice(0, at % (actions.length + 1)), end]).events);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the order checker', () => {
  const { events } = run([text(), text(), call(0), args(0, '{'), args(0, '}'), ended()]);
  const numbered = (list: typeof events) => list.map((event, at) => ({ ...event, sequence_number: at }));

  it('detects any event that is missing or repeated', () => {
    for (const at of events.keys()) {
      expect(() => legalStream(numbered(events.toSpliced(at, 1))), `without ${at}`).toThrow(/^event/);
      const again = events.slice(at, at + 1);
      expect(() => legalStream(numbered(events.toSpliced(at, 0, ...again))), `${at} twice`).toThrow(/^event/);
    }
  });

  it('detects a gap in the sequence numbers', () => {
    const [first, ...rest] = events;
    expect(() => legalStream([...(first ? [first] : []), ...rest.slice(1)])).toThrow(/gaps|second/);
  });
});
