/** Uses OpenAI's client with the real app. Its stream helper throws for events that are out of order. */

import OpenAI from 'openai';
import type { ResponseCreateParamsBase } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { called, FAKE_TOKENS, type FakeTextOptions, said } from '../../test/doubles/fake-text-engine.ts';
import { type ResponseAppOptions, responseApp } from '../../test/harness/response-app.ts';
import { KEY_A } from '../../test/harness/test-app.ts';

async function clientOf(engine: FakeTextOptions, more: ResponseAppOptions = {}) {
  const app = await responseApp(engine, more);
  const client = new OpenAI({
    apiKey: KEY_A,
    baseURL: 'http://service.test/v1',
    maxRetries: 0,
    fetch: (url, init) => {
      const { pathname, search } = new URL(String(url));
      return app.app.send(`${pathname}${search}`, init);
    },
  });
  /** The last snapshot of the stream helper. */
  const final = (fields: Omit<ResponseCreateParamsBase, 'model' | 'stream'>) =>
    client.responses.stream({ model: 'm', ...fields }).finalResponse();
  return { ...app, client, final };
}

const WEATHER = {
  type: 'function',
  name: 'weather',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

describe('the stream helper reads', () => {
  it('a text', async () => {
    const { final } = await clientOf({});
    expect(await final({ input: 'Hello.' })).toMatchObject({ status: 'completed', output_text: 'Hello.' });
  });

  it('reasoning, text, a refusal and calls in one response', async () => {
    const { final } = await clientOf({
      answer: () => [
        { kind: 'reasoning', text: 'Hm.' },
        ...said('Look:'),
        { kind: 'refusal', text: 'No.' },
        ...called(0, 'weather', '{"city":', '"Bern"}'),
        ...called(1, 'weather', '{"city":"Basel"}'),
      ],
    });
    const { output } = await final({ input: 'x', tools: [WEATHER] });
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'Look:' }, { refusal: 'No.' }] },
      { type: 'function_call', parsed_arguments: { city: 'Bern' } },
      { type: 'function_call', parsed_arguments: { city: 'Basel' } },
    ]);
  });

  it('JSON with a schema', async () => {
    const { final } = await clientOf({ answer: () => said('{"name":', '"wren"}') });
    const format = { type: 'json_schema', name: 'bird', strict: true, schema: { type: 'object' } } as const;
    expect((await final({ input: 'x', text: { format } })).output_parsed).toEqual({ name: 'wren' });
  });

  it('built-in tools and their citations', async () => {
    const { final } = await clientOf(
      {
        answer: (_, at) => {
          if (at === 0) return called(0, 'web_search', '{"query":"birds"}');
          if (at === 1) return called(0, 'code_interpreter', '{"code":"2+2"}');
          return said('See https://birds', '.test.');
        },
      },
      {
        tools: {
          web_search: () => tool('web_search'),
          code_interpreter: () => tool('code_interpreter'),
        },
      },
    );
    const tools = [
      { type: 'web_search' } as const,
      { type: 'code_interpreter', container: { type: 'auto' } } as const,
    ];
    const { output } = await final({ input: 'x', tools, include: ['code_interpreter_call.outputs'] });
    expect(output).toMatchObject([
      { type: 'web_search_call', status: 'completed' },
      { type: 'code_interpreter_call', code: '2+2', outputs: [{ logs: '4' }] },
      { type: 'message', content: [{ annotations: [{ url: 'https://birds.test' }] }] },
    ]);
  });

  it('an incomplete and a failed response', async () => {
    const cut = await clientOf({
      answer: () => [...said('Hel'), { kind: 'end', reason: 'length', tokens: FAKE_TOKENS }],
    });
    expect(await cut.final({ input: 'x' })).toMatchObject({ status: 'incomplete', output_text: 'Hel' });
    const failed = await clientOf({ failure: () => new ServiceError('internal', 'The model died.') });
    expect(await failed.final({ input: 'x' })).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'The model died.' },
      output_text: 'Hello.',
    });
  });
});

describe('the client', () => {
  it('creates, continues, retrieves, lists and deletes responses', async () => {
    const { client } = await clientOf({});
    const first = await client.responses.create({
      model: 'm',
      input: ['One.', 'Two.', 'Three.'].map(userSays),
    });
    const second = await client.responses.create({
      model: 'm',
      input: 'Four.',
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);
    expect((await client.responses.retrieve(first.id)).output_text).toBe('Hello.');
    const texts: unknown[] = [];
    for await (const item of client.responses.inputItems.list(first.id, { limit: 2, order: 'asc' })) {
      if (item.type === 'message') texts.push(item.content[0]);
    }
    expect(texts).toMatchObject([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.responses.cancel(second.id)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  it('stops the model when it leaves a stream', async () => {
    const { client, engine, rows } = await clientOf({ answer: () => said(...'abcdefgh') });
    const stream = await client.responses.create({ model: 'm', input: 'x', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    await expect.poll(() => rows).toMatchObject([{ status: 'cancelled' }]);
    expect(engine.leftEarly).toBe(1);
  });

  it('throws errors that precede the first event', async () => {
    const { client } = await clientOf({ refusal: () => new ServiceError('upstream', 'It is down.') });
    const asked = client.responses.create({ model: 'm', input: 'x', stream: true });
    await expect(asked).rejects.toMatchObject({ status: 502 });
  });
});

const userSays = (content: string) => ({ role: 'user' as const, content });

function tool(type: 'web_search' | 'code_interpreter') {
  return {
    type,
    tool: { name: type, strict: true },
    run: async () => ({
      status: 'completed' as const,
      text: 'found',
      sources: [{ url: 'https://birds.test', title: 'Birds' }],
      outputs: [{ type: 'logs' as const, logs: '4' }],
    }),
    close: async () => undefined,
  };
}
