/** The `openai` package: chat completions, responses and embeddings. */

import OpenAI from 'openai';
import {
  COLOR,
  errorOf,
  INTRODUCTION,
  NAME,
  QUESTION,
  runFlows,
  SCHEMA,
  settings,
  TEXTS,
  TOOL,
  WEATHER,
  weatherIn,
} from './bridge.mjs';

const { model, toolChoice: tool_choice, maxTokens } = settings;
const client = new OpenAI({ apiKey: settings.key, baseURL: settings.baseURL, maxRetries: 0 });
const { completions } = client.chat;
const user = (content) => ({ role: 'user', content });
const plainCall = ({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) });
const readError = ({ status, code }) => ({ status, code });

const chatTools = [{ type: 'function', function: { ...TOOL, strict: true } }];
const chatToolRequest = { model, messages: [user(WEATHER)], tools: chatTools, tool_choice };
const chatTextRequest = { model, messages: [user(QUESTION)], max_tokens: maxTokens };

const flatTools = [{ type: 'function', ...TOOL, strict: true }];
const toolRequest = { model, input: WEATHER, tools: flatTools, tool_choice };
const textRequest = { model, input: QUESTION, max_output_tokens: maxTokens };
const callsOf = ({ output }) => output.filter(({ type }) => type === 'function_call');
const usage = (used) => ({ input: used.input_tokens, output: used.output_tokens });
const chatUsage = (used) => ({ input: used.prompt_tokens, output: used.completion_tokens });

await runFlows({
  async 'chat.generate'() {
    const { choices, usage } = await completions.create(chatTextRequest);
    return { text: choices[0].message.content, usage: chatUsage(usage) };
  },
  async 'chat.stream'() {
    const runner = completions.stream({ ...chatTextRequest, stream_options: { include_usage: true } });
    const pieces = [];
    runner.on('content', (piece) => pieces.push(piece));
    const { choices, usage } = await runner.finalChatCompletion();
    if (pieces.join('') !== choices[0].message.content)
      throw new Error('the deltas differ from the complete text');
    return { text: pieces.join(''), pieces: pieces.length, usage: chatUsage(usage) };
  },
  async 'chat.tools'() {
    const { message } = (await completions.create(chatToolRequest)).choices[0];
    const results = message.tool_calls.map(({ id, function: { arguments: args } }) => ({
      role: 'tool',
      tool_call_id: id,
      content: weatherIn(JSON.parse(args)),
    }));
    const messages = [user(WEATHER), message, ...results];
    const final = await completions.create({ model, messages, tools: chatTools, max_tokens: maxTokens });
    const calls = message.tool_calls.map((call) => plainCall(call.function));
    return { calls, text: final.choices[0].message.content };
  },
  async 'chat.streamed-tools'() {
    const { choices } = await completions.stream(chatToolRequest).finalChatCompletion();
    return { calls: choices[0].message.tool_calls.map((call) => plainCall(call.function)) };
  },
  async 'chat.structured'() {
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'choice', schema: SCHEMA, strict: true },
    };
    const { choices } = await completions.create({ model, messages: [user(COLOR)], response_format });
    return { object: JSON.parse(choices[0].message.content) };
  },
  'chat.unknown-model': () =>
    errorOf(completions.create({ model: 'no-such-model', messages: [user(QUESTION)] }), readError),

  async 'responses.generate'() {
    const response = await client.responses.create(textRequest);
    return { text: response.output_text, usage: usage(response.usage) };
  },
  async 'responses.stream'() {
    const stream = client.responses.stream(textRequest);
    const pieces = [];
    stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
    const response = await stream.finalResponse();
    if (pieces.join('') !== response.output_text) throw new Error('the deltas differ from the complete text');
    return { text: pieces.join(''), pieces: pieces.length, usage: usage(response.usage) };
  },
  async 'responses.tools'() {
    const first = await client.responses.create(toolRequest);
    const input = callsOf(first).map(({ call_id, arguments: args }) => ({
      type: 'function_call_output',
      call_id,
      output: weatherIn(JSON.parse(args)),
    }));
    const final = await client.responses.create({
      model,
      previous_response_id: first.id,
      input,
      max_output_tokens: maxTokens,
    });
    return { calls: callsOf(first).map(plainCall), text: final.output_text };
  },
  async 'responses.streamed-tools'() {
    return { calls: callsOf(await client.responses.stream(toolRequest).finalResponse()).map(plainCall) };
  },
  async 'responses.structured'() {
    const format = { type: 'json_schema', name: 'choice', schema: SCHEMA, strict: true };
    const response = await client.responses.parse({ model, input: COLOR, text: { format } });
    return { object: response.output_parsed };
  },
  async 'responses.chain'() {
    const first = await client.responses.create({ ...textRequest, input: INTRODUCTION });
    const next = await client.responses.create({
      ...textRequest,
      input: NAME,
      previous_response_id: first.id,
    });
    return { text: next.output_text, continued: next.previous_response_id === first.id };
  },
  async 'responses.stored'() {
    const { id } = await client.responses.create(textRequest);
    const { output_text } = await client.responses.retrieve(id);
    const items = [];
    for await (const item of client.responses.inputItems.list(id)) items.push(item);
    await client.responses.delete(id);
    const { status } = await errorOf(client.responses.retrieve(id), readError);
    const inputItems = items.map(({ content }) => content[0].text);
    return { text: output_text, inputItems, statusAfterDelete: status };
  },
  'responses.unknown-model': () =>
    errorOf(client.responses.create({ model: 'no-such-model', input: QUESTION }), readError),

  async embeddings() {
    const { data } = await client.embeddings.create({ model: settings.embedModel, input: TEXTS });
    return { vectors: data.map(({ embedding }) => embedding) };
  },
});
