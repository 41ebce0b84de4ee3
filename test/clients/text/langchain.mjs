/** LangChain's OpenAI client, over chat completions and over responses. */

import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
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

const client = { apiKey: ask.key, configuration: { baseURL: ask.baseURL }, maxRetries: 0 };
const tools = [{ type: 'function', function: TOOL }];
const shown = ({ name, args }) => ({ name, arguments: args });
const usage = ({ input_tokens, output_tokens }) => ({ input: input_tokens, output: output_tokens });
const readError = ({ status, code }) => ({ status, code });

function chatModel(useResponsesApi, { model = ask.model, maxTokens } = {}) {
  return new ChatOpenAI({ ...client, model, maxTokens, useResponsesApi });
}

function flowsOf(name, useResponsesApi) {
  const free = chatModel(useResponsesApi, { maxTokens: ask.maxTokens });
  const exact = chatModel(useResponsesApi);
  const caller = exact.bindTools(tools, { tool_choice: ask.toolChoice });
  return {
    async [`${name}.generate`]() {
      const answer = await free.invoke(QUESTION);
      return { text: answer.text, usage: usage(answer.usage_metadata) };
    },
    async [`${name}.stream`]() {
      const pieces = [];
      let whole;
      for await (const chunk of await free.stream(QUESTION)) {
        if (chunk.text !== '') pieces.push(chunk.text);
        whole = whole?.concat(chunk) ?? chunk;
      }
      return { text: pieces.join(''), pieces: pieces.length, usage: usage(whole.usage_metadata) };
    },
    async [`${name}.tools`]() {
      const question = new HumanMessage(WEATHER);
      const called = await caller.invoke([question]);
      const results = called.tool_calls.map(
        ({ id, args }) => new ToolMessage({ tool_call_id: id, content: weatherIn(args) }),
      );
      const answer = await free.bindTools(tools).invoke([question, called, ...results]);
      return { calls: called.tool_calls.map(shown), text: answer.text };
    },
    async [`${name}.streamed-tools`]() {
      let whole;
      for await (const chunk of await caller.stream(WEATHER)) whole = whole?.concat(chunk) ?? chunk;
      return { calls: whole.tool_calls.map(shown) };
    },
    async [`${name}.structured`]() {
      const chooser = exact.withStructuredOutput(SCHEMA, {
        name: 'choice',
        method: 'jsonSchema',
        strict: true,
      });
      return { object: await chooser.invoke(COLOR) };
    },
    [`${name}.refusal`]: () =>
      refusal(chatModel(useResponsesApi, { model: 'no-such-model' }).invoke(QUESTION), readError),
  };
}

await tellOf({
  ...flowsOf('chat', false),
  ...flowsOf('responses', true),
  async 'responses.chain'() {
    const model = chatModel(true, { maxTokens: ask.maxTokens });
    const first = await model.invoke(INTRODUCTION);
    const { id } = first.response_metadata;
    const next = await model.invoke(NAME, { previous_response_id: id });
    return { text: next.text, continued: id.startsWith('resp_') };
  },
  async embeddings() {
    return {
      vectors: await new OpenAIEmbeddings({ ...client, model: ask.embedModel }).embedDocuments(TEXTS),
    };
  },
});
