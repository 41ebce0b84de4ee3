/** Vercel's `ai` with `@ai-sdk/openai`: chat models, and the responses API, which is its default. */

import { createOpenAI } from '@ai-sdk/openai';
import { embedMany, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
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

const openai = createOpenAI({ apiKey: settings.key, baseURL: settings.baseURL });
const limit = { maxOutputTokens: settings.maxTokens, maxRetries: 0 };
const tools = {
  [TOOL.name]: tool({
    description: TOOL.description,
    inputSchema: jsonSchema(TOOL.parameters),
    execute: weatherIn,
  }),
};
const plainCall = ({ toolName, input }) => ({ name: toolName, arguments: input });
const usage = ({ inputTokens, outputTokens }) => ({ input: inputTokens, output: outputTokens });

function flowsOf(name, modelOf) {
  const model = modelOf(settings.model);
  return {
    async [`${name}.generate`]() {
      const response = await generateText({ model, prompt: QUESTION, ...limit });
      return { text: response.text, usage: usage(response.usage) };
    },
    async [`${name}.stream`]() {
      const response = streamText({
        model,
        prompt: QUESTION,
        ...limit,
        onError: ({ error }) => {
          throw error;
        },
      });
      const pieces = [];
      for await (const piece of response.textStream) pieces.push(piece);
      return { text: pieces.join(''), pieces: pieces.length, usage: usage(await response.usage) };
    },
    async [`${name}.tools`]() {
      const { steps, text } = await generateText({
        model,
        prompt: WEATHER,
        tools,
        ...limit,
        stopWhen: isStepCount(2),
        // The second step may return text: with `required` in every step, the model would only call tools.
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? settings.toolChoice : 'auto' }),
      });
      return { calls: steps[0].toolCalls.map(plainCall), text };
    },
    async [`${name}.streamed-tools`]() {
      const response = streamText({
        model,
        prompt: WEATHER,
        tools,
        toolChoice: settings.toolChoice,
        maxRetries: 0,
      });
      return { calls: (await response.toolCalls).map(plainCall) };
    },
    async [`${name}.structured`]() {
      const output = Output.object({ schema: jsonSchema(SCHEMA), name: 'choice' });
      return { object: (await generateText({ model, prompt: COLOR, output, maxRetries: 0 })).output };
    },
    [`${name}.unknown-model`]: () =>
      errorOf(
        generateText({ model: modelOf('no-such-model'), prompt: QUESTION, maxRetries: 0 }),
        ({ statusCode, data }) => ({ status: statusCode, code: data?.error.code }),
      ),
  };
}

await runFlows({
  ...flowsOf('chat', openai.chat),
  ...flowsOf('responses', openai.responses),
  async 'responses.chain'() {
    const model = openai(settings.model);
    const first = await generateText({ model, prompt: INTRODUCTION, ...limit });
    const { responseId } = first.providerMetadata.openai;
    const next = await generateText({
      model,
      prompt: NAME,
      ...limit,
      providerOptions: { openai: { previousResponseId: responseId } },
    });
    return { text: next.text, continued: responseId.startsWith('resp_') };
  },
  async embeddings() {
    const { embeddings } = await embedMany({
      model: openai.embedding(settings.embedModel),
      values: TEXTS,
      maxRetries: 0,
    });
    return { vectors: embeddings };
  },
});
