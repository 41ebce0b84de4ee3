import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { openSqlite } from '../../../src/records/dialects/sqlite-records.ts';
import { responseStore } from '../../../src/records/stores/response-store.ts';
import { called, said } from '../../../test/doubles/fake-text-engine.ts';
import { legalStream } from '../../../test/generators/legal-stream.ts';
import { eventsOf, memoryStore, RESPONSES, responseApp } from '../../../test/harness/response-app.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { KEY_B, KEY_ID_A } from '../../../test/harness/test-app.ts';
import { MAX_REFERENCES } from './history.ts';

const WEATHER = { type: 'function', name: 'weather', parameters: { type: 'object' } };
const FAILURE = new ServiceError('upstream', 'The server that answers failed.', { code: 'upstream_error' });
const USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 17,
};

describe('a response', () => {
  it('has all fields', async () => {
    const { create } = await responseApp();
    const response = await create({ input: 'Hello.', metadata: { topic: 'birds' }, user: 'ann' });
    expect(response).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      created_at: expect.any(Number),
      status: 'completed',
      completed_at: expect.any(Number),
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      model: 'm',
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
      user: 'ann',
      metadata: { topic: 'birds' },
      conversation: null,
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
        },
      ],
      output_text: 'Hello.',
      service_tier: 'default',
      usage: USAGE,
    });
  });

  it('has one usage row, which is stored before the response is returned', async () => {
    const { stream, rows, calls } = await responseApp();
    await stream({ input: 'Hello.' });
    expect(rows).toMatchObject([
      { endpoint: 'POST /v1/responses', model: 'm', status: 'completed', inputTokens: 12, outputTokens: 5 },
    ]);
    expect(calls.unended).toBe(0);
  });

  it('is streamed in the order that clients accept', async () => {
    const { post } = await responseApp();
    const answer = await post({ input: 'Hello.', stream: true });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(await answer.text());
    legalStream(events);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output_text: 'Hello.', usage: USAGE },
    });
  });

  it('that reaches the token limit is incomplete', async () => {
    const { create, engine } = await responseApp({
      answer: () => [
        ...said('Hel'),
        { kind: 'end', reason: 'length', tokens: { input: 1, output: 1, cached: 0, reasoning: 0 } },
      ],
    });
    expect(await create({ input: 'Hello.', max_output_tokens: 1 })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      max_output_tokens: 1,
      output_text: 'Hel',
    });
    expect(engine.requests[0]?.maxTokens).toBe(1);
  });

  it('passes the parameters of the request to the engine', async () => {
    const { create, engine } = await responseApp();
    const schema = { type: 'object' };
    await create({
      input: [
        { role: 'developer', content: 'Speak French.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See:' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
            { type: 'input_file', file_data: 'AA', filename: 'a.pdf' },
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { role: 'user', content: 'Please.' },
      ],
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'json_schema', name: 'bird', schema, strict: true } },
      parallel_tool_calls: false,
    });
    expect(engine.requests[0]).toEqual({
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'system', text: 'Speak French.' },
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'See:' },
            { kind: 'image', url: 'data:image/png;base64,AA', detail: 'low' },
            { kind: 'file', base64: 'AA', filename: 'a.pdf' },
          ],
        },
        { role: 'assistant', text: 'No.', toolCalls: [] },
        { role: 'user', parts: [{ kind: 'text', text: 'Please.' }] },
      ],
      tools: [],
      toolChoice: 'none',
      parallelToolCalls: false,
      output: { kind: 'json_schema', name: 'bird', schema, strict: true },
      sampling: { temperature: 0.5, topP: 0.9 },
      stop: [],
      maxTokens: undefined,
      reasoningEffort: 'low',
      priority: 'interactive',
      fairnessKey: KEY_ID_A,
    });
  });

  it('of a reasoning model starts with its reasoning', async () => {
    const { create } = await responseApp({
      answer: () => [{ kind: 'reasoning', text: 'Hm.' }, ...said('Yes.')],
    });
    expect((await create({ input: 'Well?' })).output).toMatchObject([
      { type: 'reasoning', id: expect.stringMatching(/^rs_/), summary: [], content: [{ text: 'Hm.' }] },
      { type: 'message' },
    ]);
  });
});

describe('turns', () => {
  it('continue the whole chain, without the instructions of previous turns', async () => {
    const { create, engine } = await responseApp();
    const first = await create({ input: 'One.', instructions: 'Be brief.' });
    const second = await create({ input: 'Two.', previous_response_id: first.id });
    const third = await create({ input: 'Three.', previous_response_id: second.id, instructions: 'Rhyme.' });
    expect(third.previous_response_id).toBe(second.id);
    const user = (text: string) => ({ role: 'user', parts: [{ kind: 'text', text }] });
    const hello = { role: 'assistant', text: 'Hello.', toolCalls: [] };
    expect(engine.requests[2]?.messages).toEqual([
      { role: 'system', text: 'Rhyme.' },
      user('One.'),
      hello,
      user('Two.'),
      hello,
      user('Three.'),
    ]);
  });

  it('continue after a restart', async () => {
    const path = join(await tempDir(), 'service.sqlite');
    const before = openSqlite(path);
    const first = await (await responseApp({}, { store: responseStore(before) })).create({ input: 'One.' });
    await before.close();

    const records = openSqlite(path);
    const { create, engine } = await responseApp({}, { store: responseStore(records) });
    await create({ input: 'Two.', previous_response_id: first.id });
    expect(engine.requests[0]?.messages).toHaveLength(3);
    await records.close();
  });

  it('cannot continue a chain with a deleted response, which the message names', async () => {
    const { create, send } = await responseApp();
    const first = await create({ input: 'One.' });
    const second = await create({ input: 'Two.', previous_response_id: first.id });
    await send(`${RESPONSES}/${first.id}`, { method: 'DELETE' });
    for (const [id, says] of [
      [first.id, 'not found'],
      [second.id, 'was deleted'],
    ]) {
      const { error } = await create({ input: 'Three.', previous_response_id: id }, 400);
      expect(error).toMatchObject({
        code: 'previous_response_not_found',
        param: 'previous_response_id',
        message: expect.stringContaining(says),
      });
    }
  });

  it('cannot continue responses that are not stored or belong to other organizations', async () => {
    const { create, post, send, rows } = await responseApp();
    const unstored = await create({ input: 'One.', store: false });
    expect((await send(`${RESPONSES}/${unstored.id}`)).status).toBe(404);
    expect((await create({ input: 'x', previous_response_id: unstored.id }, 400)).error.code).toBe(
      'previous_response_not_found',
    );
    const { id } = await create({ input: 'One.' });
    const other = await post({ input: 'x', previous_response_id: id }, { key: KEY_B });
    expect(other.status).toBe(400);
    expect(rows).toHaveLength(2);
  });

  it('pass tool results to the model', async () => {
    const { create, engine } = await responseApp({
      answer: (_, at) =>
        at === 0 ? [...said('Look.'), ...called(0, 'weather', '{"city":', '"Bern"}')] : said('Sunny.'),
    });
    const first = await create({ input: 'Weather?', tools: [WEATHER], tool_choice: 'required' });
    expect(first.output).toMatchObject([
      { type: 'message' },
      { type: 'function_call', name: 'weather', arguments: '{"city":"Bern"}', status: 'completed' },
    ]);
    const [, { call_id }] = first.output;
    const input = [{ type: 'function_call_output', call_id, output: [{ type: 'input_text', text: 'sun' }] }];
    const second = await create({ input, previous_response_id: first.id });
    expect(second.output_text).toBe('Sunny.');
    expect(engine.requests[1]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        text: 'Look.',
        toolCalls: [{ id: call_id, name: 'weather', arguments: '{"city":"Bern"}' }],
      },
      { role: 'tool', toolCallId: call_id, text: 'sun' },
    ]);
    const { error } = await create(
      { input: [{ ...input[0], call_id: 'call_x' }], previous_response_id: first.id },
      400,
    );
    expect(error.message).toBe('No tool call found for function call output with call_id call_x.');
  });

  it('may send the whole conversation instead', async () => {
    const { create, engine } = await responseApp();
    await create({
      input: [
        { role: 'user', content: 'Weather?' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sun' },
        { type: 'function_call_output', call_id: 'c2', output: 'rain' },
      ],
    });
    expect(engine.requests[0]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolCalls: [{ id: 'c1' }, { id: 'c2' }] },
      { role: 'tool', toolCallId: 'c1' },
      { role: 'tool', toolCallId: 'c2' },
    ]);
  });

  it('may refer to items of stored responses', async () => {
    const { create, post, engine } = await responseApp();
    const { output } = await create({ input: 'One.' });
    const input = [
      { role: 'user', content: 'One.' },
      { type: 'item_reference', id: output[0].id },
      { role: 'user', content: 'Two.' },
    ];
    await create({ input });
    expect(engine.requests[1]?.messages[1]).toEqual({ role: 'assistant', text: 'Hello.', toolCalls: [] });
    const { error } = await create({ input: [{ id: 'msg_x' }] }, 404);
    expect(error.message).toBe("Item with id 'msg_x' not found.");
    expect((await post({ input }, { key: KEY_B })).status).toBe(404);
  });

  it('may refer to input items of any type', async () => {
    const { create, engine, send, post } = await responseApp();
    const { id } = await create({
      input: [
        { role: 'user', content: 'How is it?' },
        { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'Rain.' },
      ],
    });
    const { data } = await (await send(`${RESPONSES}/${id}/input_items?order=asc`)).json();
    const input = data.map((item: { id: string }) => ({ type: 'item_reference', id: item.id }));
    expect(input.map((item: { id: string }) => item.id)).toEqual([
      expect.stringMatching(/^msg_.*_i0$/),
      expect.stringMatching(/^fc_.*_i1$/),
      expect.stringMatching(/^fco_.*_i2$/),
    ]);
    await create({ input });
    expect(engine.requests[1]?.messages).toEqual(engine.requests[0]?.messages);
    const absent = `${input[0].id}7`;
    expect((await create({ input: [{ type: 'item_reference', id: absent }] }, 404)).error.message).toBe(
      `Item with id '${absent}' not found.`,
    );
    expect((await post({ input }, { key: KEY_B })).status).toBe(404);
  });

  it('may contain a limited number of references', async () => {
    const { create, responses, engine } = await responseApp();
    const digits = '0'.repeat(32);
    const items = Array.from({ length: MAX_REFERENCES + 1 }, (_, at) => ({
      id: `msg_${digits}_i${at}`,
      type: 'message',
      role: 'user',
      content: [],
    }));
    const response = { id: `resp_${digits}`, created_at: 0, status: 'completed' } as const;
    await responses.put('a', { ...response, previous_response_id: null, output: [] }, items);
    const input = items.map(({ id }) => ({ type: 'item_reference', id }));
    expect((await create({ input }, 400)).error).toMatchObject({ param: 'input', code: 'invalid_value' });
    expect(engine.requests).toEqual([]);
    await create({ input: input.slice(1), store: false });
    expect(engine.requests).toHaveLength(1);
  });

  it('reject duplicate ids of items to store before the model starts', async () => {
    const { create, engine, rows } = await responseApp();
    const input = [
      { role: 'user', content: 'One.', id: 'msg_1' },
      { role: 'user', content: 'Two.', id: 'msg_1' },
    ];
    expect((await create({ input }, 400)).error).toMatchObject({ param: 'input', code: 'invalid_value' });
    expect(engine.requests).toEqual([]);
    expect(rows).toEqual([]);
    await create({ input, store: false });
    expect(engine.requests).toHaveLength(1);
  });

  it('drop the oldest messages if truncation is enabled', async () => {
    const refusal = ({ messages }: { messages: readonly unknown[] }) =>
      messages.length > 3 ? invalidRequest('Too long.', 'messages', 'context_length_exceeded') : undefined;
    const { create, engine } = await responseApp({ refusal });
    const input = ['a', 'b', 'c', 'd', 'e', 'f'].map((content) => ({ role: 'user', content }));
    expect((await create({ input }, 400)).error.code).toBe('context_length_exceeded');
    await create({ input, instructions: 'Be brief.', truncation: 'auto' });
    expect(engine.requests.at(-1)?.messages).toMatchObject([
      { role: 'system' },
      { parts: [{ text: 'e' }] },
      { parts: [{ text: 'f' }] },
    ]);
  });
});

describe('failures', () => {
  it('before the first event are HTTP errors and leave nothing stored', async () => {
    const { post, rows, calls } = await responseApp({ refusal: () => invalidRequest('Too long.') });
    for (const stream of [false, true]) {
      expect((await post({ input: 'Hello.', stream })).status).toBe(400);
    }
    expect(rows).toEqual([]);
    expect(calls.unended).toBe(0);
  });

  it('after the first event end the stream and are stored', async () => {
    const { stream, send, rows, log } = await responseApp({ failure: () => FAILURE });
    const events = await stream({ input: 'Hello.' });
    legalStream(events);
    const error = { code: 'server_error', message: 'The server that answers failed.' };
    const response = events.at(-1)?.response;
    expect(response).toMatchObject({ status: 'failed', error, output: [{ status: 'incomplete' }] });
    expect(await (await send(`${RESPONSES}/${response.id}`)).json()).toEqual(response);
    expect(rows).toMatchObject([{ status: 'failed', inputTokens: 2, outputTokens: 2 }]);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'response failed' }]);
  });

  it('set the status of a response that is not streamed', async () => {
    const { create } = await responseApp({ failure: () => new Error('private words') });
    const response = await create({ input: 'Hello.' });
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
      output_text: 'Hello.',
    });
    expect(JSON.stringify(response)).not.toContain('private');
  });

  it('include contract violations of the engine', async () => {
    const { create } = await responseApp({
      answer: () => [
        ...called(0, 'weather', '{'),
        ...called(1, 'weather'),
        { kind: 'tool_arguments', index: 0, text: '}' },
      ],
    });
    expect(await create({ input: 'x', tools: [WEATHER] })).toMatchObject({ status: 'failed' });
  });

  it('of the store are HTTP errors before the first event, or end the response', async () => {
    const store = memoryStore();
    const broken = new Error('disk');
    const { post, rows } = await responseApp({}, { store: { ...store, put: () => Promise.reject(broken) } });
    expect((await post({ input: 'Hello.', stream: true })).status).toBe(500);
    expect(rows).toMatchObject([{ status: 'failed' }]);

    const late = await responseApp({}, { store: { ...store, update: () => Promise.reject(broken) } });
    const events = await late.stream({ input: 'Hello.' });
    legalStream(events);
    expect(events.at(-1)?.type).toBe('response.failed');
    expect(late.rows).toMatchObject([{ status: 'failed' }]);
  });

  it('by credits or concurrency limits are 429', async () => {
    const { post } = await responseApp(
      {},
      {
        opening: () => {
          throw new ServiceError('insufficient_quota', 'No credits.', { code: 'insufficient_quota' });
        },
      },
    );
    expect((await post({ input: 'Hello.' })).status).toBe(429);
    const full = await responseApp({}, { perOrganization: 1 });
    const first = await full.post({ input: 'Hello.', stream: true });
    expect((await full.post({ input: 'Hello.' })).status).toBe(429);
    await first.text();
    expect((await full.post({ input: 'Hello.' })).status).toBe(200);
  });
});

describe('a client that disconnects', () => {
  it('stops the model, and the partial output is stored as incomplete', async () => {
    const { post, engine, rows, send, calls } = await responseApp();
    const answer = await post({ input: 'Hello.', stream: true });
    const reader = answer.body?.getReader();
    const head = new TextDecoder().decode((await reader?.read())?.value);
    const [{ response } = { response: undefined }] = eventsOf(head);
    for (let events = 1; events < 5; events += 1) await reader?.read();
    await reader?.cancel();
    expect(engine.leftEarly).toBe(1);
    expect(await (await send(`${RESPONSES}/${response.id}`)).json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: null,
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    });
    expect(rows).toMatchObject([{ status: 'cancelled', outputTokens: 1 }]);
    expect(calls.unended).toBe(0);
  });

  it('before the model starts leaves only a usage row', async () => {
    const waiting = Promise.withResolvers<void>();
    const { post, rows, engine } = await responseApp({
      before: (_event, _index, signal) => {
        waiting.resolve();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const leaving = new AbortController();
    const answer = post({ input: 'Hello.' }, { signal: leaving.signal });
    await waiting.promise;
    leaving.abort();
    await answer.catch(() => undefined);
    expect(engine.leftEarly).toBe(1);
    expect(rows).toMatchObject([{ status: 'cancelled', inputTokens: 0, outputTokens: 0 }]);
  });

  it('differs from a shutdown, after which the response has failed', async () => {
    const app = await responseApp({
      before: async (_event, index, signal) => {
        if (index === 0) return;
        app.open.stop();
        signal.throwIfAborted();
      },
    });
    const events = await app.stream({ input: 'Hello.' });
    legalStream(events);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { message: 'Server is shutting down. Retry the request.' } },
    });
    await app.open.drain(AbortSignal.timeout(1000));
  });
});

describe('stored responses', () => {
  it('are retrieved as they were returned', async () => {
    const { create, send } = await responseApp();
    const response = await create({ input: 'Hello.' });
    for (const query of [
      '',
      '?include[]=message.output_text.logprobs',
      '?include=code_interpreter_call.outputs',
    ]) {
      expect(await (await send(`${RESPONSES}/${response.id}${query}`)).json()).toEqual(response);
    }
  });

  it('are listed as unfinished while in progress, but only if they are stored', async () => {
    const named: string[] = [];
    const app = await responseApp({
      before: (event) => {
        if (event.kind === 'end') named.push(...app.responseService.unfinishedIds());
      },
    });
    const { id } = await app.create({ input: 'Hello.' });
    await app.create({ input: 'Hello.', store: false });
    expect(named).toEqual([id]);
    expect(app.responseService.unfinishedIds()).toEqual([]);
  });

  it('contain the finished items while in progress', async () => {
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { post, send } = await responseApp({
      answer: () => [...called(0, 'weather', '{}'), ...said('Now.')],
      before: (event) => {
        if (event.kind !== 'end') return undefined;
        reached.resolve();
        return gate.promise;
      },
    });
    const answer = await post({ input: 'Hello.', tools: [WEATHER], stream: true });
    const reader = answer.body?.getReader();
    let seen = '';
    while (!seen.includes('Now.')) seen += new TextDecoder().decode((await reader?.read())?.value);
    const id = /resp_[0-9a-f]{32}/.exec(seen)?.[0];
    const stored = await (await send(`${RESPONSES}/${id}`)).json();
    expect(stored).toMatchObject({ status: 'in_progress', output: [{ type: 'function_call' }] });
    expect(stored).not.toHaveProperty('output_text');
    gate.resolve();
    while (!(await reader?.read())?.done);
  });

  it('are deleted once, and only by their organization', async () => {
    const { create, send } = await responseApp();
    const { id } = await create({ input: 'Hello.' });
    const path = `${RESPONSES}/${id}`;
    for (const [target, method] of [
      [path, 'GET'],
      [path, 'DELETE'],
      [`${path}/input_items`, 'GET'],
      [`${path}/cancel`, 'POST'],
    ] as const) {
      const other = await send(target, { method }, KEY_B);
      expect(other.status).toBe(404);
      expect(await other.json()).toEqual({
        error: {
          message: `Response with id '${id}' not found.`,
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      });
    }
    const deleted = await send(path, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ id, object: 'response', deleted: true });
    expect((await send(path, { method: 'DELETE' })).status).toBe(404);
    expect((await send(path)).status).toBe(404);
  });

  it('cannot be cancelled or streamed again', async () => {
    const { create, send } = await responseApp();
    const { id } = await create({ input: 'Hello.' });
    const cancel = await send(`${RESPONSES}/${id}/cancel`, { method: 'POST' });
    expect(cancel.status).toBe(400);
    expect((await cancel.json()).error.message).toBe('Only background responses can be cancelled.');
    const replay = await send(`${RESPONSES}/${id}?stream=true&starting_after=3`);
    expect(replay.status).toBe(400);
    expect((await replay.json()).error).toMatchObject({ code: 'unsupported_parameter', param: 'stream' });
    expect((await send(`${RESPONSES}/${id}?stream=false`)).status).toBe(200);
    expect((await send(`${RESPONSES}/${id}?include=birds`)).status).toBe(400);
    expect((await send(`${RESPONSES}/${id}?api-version=1`)).status).toBe(200);
  });

  it('list their input items, newest first', async () => {
    const { create, send } = await responseApp();
    const { id } = await create({
      input: [
        { role: 'user', content: 'One.' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
        { role: 'assistant', content: 'Two.' },
      ],
    });
    const replayed = [
      { type: 'web_search_call', id: 'ws_1', for_model: { name: 'web_search', arguments: '{}', text: 'x' } },
      { type: 'code_interpreter_call', code: '1', outputs: [], for_model: 'x' },
    ];
    const other = await create({ input: replayed });
    const listed = await (await send(`${RESPONSES}/${other.id}/input_items?order=asc`)).json();
    expect(listed.data).toEqual([
      {
        id: 'ws_1',
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: '', queries: [] },
      },
      {
        id: expect.stringMatching(/^ci_/),
        type: 'code_interpreter_call',
        status: 'completed',
        code: '1',
        outputs: null,
      },
    ]);
    const page = async (query: string, status = 200) => {
      const answer = await send(`${RESPONSES}/${id}/input_items${query}`);
      expect(answer.status).toBe(status);
      return answer.json();
    };
    const all = await page('?order=asc');
    expect(all).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: all.data[0].id,
      last_id: all.data[3].id,
      data: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: 'One.' }],
        },
        { id: expect.stringMatching(/^fc_/), call_id: 'c1' },
        { id: expect.stringMatching(/^fco_/), output: 'x' },
        { content: [{ type: 'output_text', text: 'Two.' }] },
      ],
    });
    const first = await page('?limit=3');
    expect(first.data).toEqual(all.data.toReversed().slice(0, 3));
    expect(first.has_more).toBe(true);
    expect((await page(`?limit=3&after=${first.last_id}`)).data).toEqual([all.data[0]]);
    expect((await page('?limit=0', 400)).error.param).toBe('limit');
    expect((await page('?order=up', 400)).error.param).toBe('order');
    expect((await page('?after=msg_x', 400)).error.param).toBe('after');
  });
});
