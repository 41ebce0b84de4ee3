/** Documentation of POST /v1/chat/completions: the schema of the response, and examples. */

import { Type } from '@sinclair/typebox';
import { UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

const MODEL = 'smollm2-135m-instruct';
const ID = 'chatcmpl-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const Count = Type.Integer({ minimum: 0 });

const ToolCall = Type.Object({
  id: Type.String({ examples: ['call_5f0c2f1e6b0d4f3c'] }),
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ examples: ['get_weather'] }),
    arguments: Type.String({ description: 'JSON.', examples: ['{"city":"Paris"}'] }),
  }),
});

/** A completion. */
export const Completion = Type.Object(
  {
    id: Type.String({ examples: [ID] }),
    object: Type.Literal('chat.completion'),
    created: UnixSeconds,
    model: Type.String({ examples: [MODEL] }),
    choices: Type.Array(
      Type.Object({
        index: Type.Literal(0),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()], { examples: ['Robin, wren, swift.'] }),
          refusal: Type.Union([Type.String(), Type.Null()]),
          annotations: Type.Array(Type.Object({})),
          reasoning_content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(Type.Array(ToolCall)),
        }),
        logprobs: Type.Null(),
        finish_reason: oneOf(['stop', 'length', 'tool_calls', 'content_filter']),
      }),
      { minItems: 1, maxItems: 1 },
    ),
    usage: Type.Object({
      prompt_tokens: Count,
      completion_tokens: Count,
      total_tokens: Count,
      prompt_tokens_details: Type.Object({ cached_tokens: Count, audio_tokens: Count }),
      completion_tokens_details: Type.Object({
        reasoning_tokens: Count,
        audio_tokens: Count,
        accepted_prediction_tokens: Count,
        rejected_prediction_tokens: Count,
      }),
    }),
  },
  { title: 'Chat completion' },
);

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: ID,
    object: 'chat.completion.chunk',
    created: 1_765_000_000,
    model: MODEL,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })}\n\n`;
/** The events of a completion. */
export const STREAM = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Robin' }),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('');

const messages = [{ role: 'user', content: 'What is the weather in Paris?' }];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** Request bodies by name. */
export const EXAMPLES = {
  text: {
    summary: 'A question',
    value: {
      model: MODEL,
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Name three birds.' }],
    },
  },
  tools: {
    summary: 'With a client function',
    value: {
      model: MODEL,
      max_tokens: 50,
      messages,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
    },
  },
};
