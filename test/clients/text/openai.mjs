/** The `openai` package: chat completions, responses, embeddings. */

import OpenAI from 'openai';
import {
  ask,
  COLOR,
  INTRODUCTION,
  NAME,
  QUESTION,
  refusal,
  SCHEMA,
  TEXTS,
  TOOL,
  tellOf,
  WEATHER,
  weatherIn,
} from './bridge.mjs';

const { model, toolChoice: tool_choice, maxTokens } = ask;
const client = new OpenAI({ apiKey: ask.key, baseURL: ask.baseURL, maxRetries: 0 });
const { completions } = client.chat;
const user = (content) => ({ role: 'user', content });
const shown = ({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) });
const readError = ({ status, code }) => ({ status, code });

const chatTools = [{ type: 'function', function: { ...TOOL, strict: true } }];
const asked = { model, messages: [user(WEATHER)], tools: chatTools, tool_choice };
const free = { model, messages: [user(QUESTION)], max_tokens: maxTokens };

const flatTools = [{ type: 'function', ...TOOL, strict: true }];
const wanted = { model, input: WEATHER, tools: flatTools, tool_choice };
const text = { model, input: QUESTION, max_output_tokens: maxTokens };
const callsOf = ({ output }) => output.filter(({ type }) => type === 'function_call');
const usage = (used) => ({ input: used.input_tokens, output: used.output_tokens });
const chatUsage = (used) => ({ input: used.prompt_tokens, output: used.completion_tokens });

await tellOf({
  async 'chat.generate'() {
    const { choices, usage } = await completions.create(free);
    return { text: choices[0].message.content, usage: chatUsage(usage) };
  },
  async 'chat.stream'() {
    const runner = completions.stream({ ...free, stream_options: { include_usage: true } });
    const pieces = [];
    runner.on('content', (piece) => pieces.push(piece));
    const { choices, usage } = await runner.finalChatCompletion();
    if (pieces.join('') !== choices[0].message.content) throw new Error('the pieces are another text');
    return { text: pieces.join(''), pieces: pieces.length, usage: chatUsage(usage) };
  },
  async 'chat.tools'() {
    const { message } = (await completions.create(asked)).choices[0];
    const results = message.tool_calls.map(({ id, function: { arguments: args } }) => ({
      role: 'tool',
      tool_call_id: id,
      content: weatherIn(JSON.parse(args)),
    }));
    const messages = [user(WEATHER), message, ...results];
    const answer = await completions.create({ model, messages, tools: chatTools, max_tokens: maxTokens });
    const calls = message.tool_calls.map((call) => shown(call.function));
    return { calls, text: answer.choices[0].message.content };
  },
  async 'chat.streamed-tools'() {
    const { choices } = await completions.stream(asked).finalChatCompletion();
    return { calls: choices[0].message.tool_calls.map((call) => shown(call.function)) };
  },
  async 'chat.structured'() {
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'choice', schema: SCHEMA, strict: true },
    };
    const { choices } = await completions.create({ model, messages: [user(COLOR)], response_format });
    return { object: JSON.parse(choices[0].message.content) };
  },
  'chat.refusal': () =>
    refusal(completions.create({ model: 'no-such-model', messages: [user(QUESTION)] }), readError),

  async 'responses.generate'() {
    const response = await client.responses.create(text);
    return { text: response.output_text, usage: usage(response.usage) };
  },
  async 'responses.stream'() {
    const stream = client.responses.stream(text);
    const pieces = [];
    stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
    const response = await stream.finalResponse();
    if (pieces.join('') !== response.output_text) throw new Error('the pieces are another text');
    return { text: pieces.join(''), pieces: pieces.length, usage: usage(response.usage) };
  },
  async 'responses.tools'() {
    const first = await client.responses.create(wanted);
    const input = callsOf(first).map(({ call_id, arguments: args }) => ({
      type: 'function_call_output',
      call_id,
      output: weatherIn(JSON.parse(args)),
    }));
    const answer = await client.responses.create({
      model,
      previous_response_id: first.id,
      input,
      max_output_tokens: maxTokens,
    });
    return { calls: callsOf(first).map(shown), text: answer.output_text };
  },
  async 'responses.streamed-tools'() {
    return { calls: callsOf(await client.responses.stream(wanted).finalResponse()).map(shown) };
  },
  async 'responses.structured'() {
    const format = { type: 'json_schema', name: 'choice', schema: SCHEMA, strict: true };
    const response = await client.responses.parse({ model, input: COLOR, text: { format } });
    return { object: response.output_parsed };
  },
  async 'responses.chain'() {
    const first = await client.responses.create({ ...text, input: INTRODUCTION });
    const next = await client.responses.create({ ...text, input: NAME, previous_response_id: first.id });
    return { text: next.output_text, continued: next.previous_response_id === first.id };
  },
  async 'responses.stored'() {
    const { id } = await client.responses.create(text);
    const { output_text } = await client.responses.retrieve(id);
    const items = [];
    for await (const item of client.responses.inputItems.list(id)) items.push(item);
    await client.responses.delete(id);
    const gone = await refusal(client.responses.retrieve(id), readError);
    return { text: output_text, asked: items.map(({ content }) => content[0].text), gone: gone.status };
  },
  'responses.refusal': () =>
    refusal(client.responses.create({ model: 'no-such-model', input: QUESTION }), readError),

  async embeddings() {
    const { data } = await client.embeddings.create({ model: ask.embedModel, input: TEXTS });
    return { vectors: data.map(({ embedding }) => embedding) };
  },
});
