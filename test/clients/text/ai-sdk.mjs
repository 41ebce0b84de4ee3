/** Vercel's `ai` with `@ai-sdk/openai`: its chat models, and the responses that it uses by default. */

import { createOpenAI } from '@ai-sdk/openai';
import { embedMany, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
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

const openai = createOpenAI({ apiKey: ask.key, baseURL: ask.baseURL });
const limit = { maxOutputTokens: ask.maxTokens, maxRetries: 0 };
const tools = {
  [TOOL.name]: tool({
    description: TOOL.description,
    inputSchema: jsonSchema(TOOL.parameters),
    execute: weatherIn,
  }),
};
const shown = ({ toolName, input }) => ({ name: toolName, arguments: input });
const usage = ({ inputTokens, outputTokens }) => ({ input: inputTokens, output: outputTokens });

function flowsOf(name, modelOf) {
  const model = modelOf(ask.model);
  return {
    async [`${name}.generate`]() {
      const answer = await generateText({ model, prompt: QUESTION, ...limit });
      return { text: answer.text, usage: usage(answer.usage) };
    },
    async [`${name}.stream`]() {
      const answer = streamText({
        model,
        prompt: QUESTION,
        ...limit,
        onError: ({ error }) => {
          throw error;
        },
      });
      const pieces = [];
      for await (const piece of answer.textStream) pieces.push(piece);
      return { text: pieces.join(''), pieces: pieces.length, usage: usage(await answer.usage) };
    },
    async [`${name}.tools`]() {
      const { steps, text } = await generateText({
        model,
        prompt: WEATHER,
        tools,
        ...limit,
        stopWhen: isStepCount(2),
        // What must call a tool in every step never comes to an answer.
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? ask.toolChoice : 'auto' }),
      });
      return { calls: steps[0].toolCalls.map(shown), text };
    },
    async [`${name}.streamed-tools`]() {
      const answer = streamText({ model, prompt: WEATHER, tools, toolChoice: ask.toolChoice, maxRetries: 0 });
      return { calls: (await answer.toolCalls).map(shown) };
    },
    async [`${name}.structured`]() {
      const output = Output.object({ schema: jsonSchema(SCHEMA), name: 'choice' });
      return { object: (await generateText({ model, prompt: COLOR, output, maxRetries: 0 })).output };
    },
    [`${name}.refusal`]: () =>
      refusal(
        generateText({ model: modelOf('no-such-model'), prompt: QUESTION, maxRetries: 0 }),
        ({ statusCode, data }) => ({ status: statusCode, code: data?.error.code }),
      ),
  };
}

await tellOf({
  ...flowsOf('chat', openai.chat),
  ...flowsOf('responses', openai.responses),
  async 'responses.chain'() {
    const model = openai(ask.model);
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
      model: openai.embedding(ask.embedModel),
      values: TEXTS,
      maxRetries: 0,
    });
    return { vectors: embeddings };
  },
});
