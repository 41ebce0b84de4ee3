/** LangChain's OpenAI client with the chat completions and responses APIs. */

import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
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

const client = { apiKey: settings.key, configuration: { baseURL: settings.baseURL }, maxRetries: 0 };
const tools = [{ type: 'function', function: TOOL }];
const plainCall = ({ name, args }) => ({ name, arguments: args });
const usage = ({ input_tokens, output_tokens }) => ({ input: input_tokens, output: output_tokens });
const readError = ({ status, code }) => ({ status, code });

function chatModel(useResponsesApi, { model = settings.model, maxTokens } = {}) {
  return new ChatOpenAI({ ...client, model, maxTokens, useResponsesApi });
}

function flowsOf(name, useResponsesApi) {
  const limited = chatModel(useResponsesApi, { maxTokens: settings.maxTokens });
  const unlimited = chatModel(useResponsesApi);
  const caller = unlimited.bindTools(tools, { tool_choice: settings.toolChoice });
  return {
    async [`${name}.generate`]() {
      const response = await limited.invoke(QUESTION);
      return { text: response.text, usage: usage(response.usage_metadata) };
    },
    async [`${name}.stream`]() {
      const pieces = [];
      let message;
      for await (const chunk of await limited.stream(QUESTION)) {
        if (chunk.text !== '') pieces.push(chunk.text);
        message = message?.concat(chunk) ?? chunk;
      }
      return { text: pieces.join(''), pieces: pieces.length, usage: usage(message.usage_metadata) };
    },
    async [`${name}.tools`]() {
      const question = new HumanMessage(WEATHER);
      const callMessage = await caller.invoke([question]);
      const results = callMessage.tool_calls.map(
        ({ id, args }) => new ToolMessage({ tool_call_id: id, content: weatherIn(args) }),
      );
      const response = await limited.bindTools(tools).invoke([question, callMessage, ...results]);
      return { calls: callMessage.tool_calls.map(plainCall), text: response.text };
    },
    async [`${name}.streamed-tools`]() {
      let message;
      for await (const chunk of await caller.stream(WEATHER)) message = message?.concat(chunk) ?? chunk;
      return { calls: message.tool_calls.map(plainCall) };
    },
    async [`${name}.structured`]() {
      const chooser = unlimited.withStructuredOutput(SCHEMA, {
        name: 'choice',
        method: 'jsonSchema',
        strict: true,
      });
      return { object: await chooser.invoke(COLOR) };
    },
    [`${name}.unknown-model`]: () =>
      errorOf(chatModel(useResponsesApi, { model: 'no-such-model' }).invoke(QUESTION), readError),
  };
}

await runFlows({
  ...flowsOf('chat', false),
  ...flowsOf('responses', true),
  async 'responses.chain'() {
    const model = chatModel(true, { maxTokens: settings.maxTokens });
    const first = await model.invoke(INTRODUCTION);
    const { id } = first.response_metadata;
    const next = await model.invoke(NAME, { previous_response_id: id });
    return { text: next.text, continued: id.startsWith('resp_') };
  },
  async embeddings() {
    return {
      vectors: await new OpenAIEmbeddings({ ...client, model: settings.embedModel }).embedDocuments(TEXTS),
    };
  },
});
