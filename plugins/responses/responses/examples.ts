/** Documentation of the Responses API: the schemas of its objects, and examples. */

import { Type } from '@sinclair/typebox';
import { orNull, UnixSeconds } from '../../../src/http/openapi/schemas.ts';

const MODEL = 'smollm2-135m-instruct';
/** Id of a response. */
export const ID = 'resp_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const MESSAGE = {
  id: 'msg_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f_0',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Robin, wren, swift.', annotations: [], logprobs: [] }],
};

const Count = Type.Integer({ minimum: 0 });
/** An input or output item. */
export const Item = Type.Object(
  { id: Type.String(), type: Type.String() },
  {
    title: 'Response item',
    description: 'A message, a function call, reasoning, or a call of a built-in tool.',
    additionalProperties: true,
  },
);

/** All fields are defined in openai-wire 6.7. The schema lists those that most clients read. */
export const ResponseSchema = Type.Object(
  {
    id: Type.String({ examples: [ID] }),
    object: Type.Literal('response'),
    created_at: UnixSeconds,
    status: Type.Union(
      ['in_progress', 'completed', 'incomplete', 'failed'].map((status) => Type.Literal(status)),
    ),
    completed_at: orNull(Type.Integer()),
    error: orNull(Type.Object({ code: Type.String({ examples: ['server_error'] }), message: Type.String() })),
    incomplete_details: orNull(Type.Object({ reason: Type.String({ examples: ['max_output_tokens'] }) })),
    model: Type.String({ examples: [MODEL] }),
    output: Type.Array(Item, { examples: [[MESSAGE]] }),
    output_text: Type.Optional(Type.String({ examples: ['Robin, wren, swift.'] })),
    instructions: orNull(Type.String()),
    max_output_tokens: orNull(Type.Integer()),
    previous_response_id: orNull(Type.String()),
    temperature: Type.Number({ examples: [1] }),
    top_p: Type.Number({ examples: [1] }),
    tools: Type.Array(Type.Object({})),
    metadata: Type.Object({}),
    usage: orNull(
      Type.Object({
        input_tokens: Count,
        input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Count }),
        output_tokens: Count,
        output_tokens_details: Type.Object({ reasoning_tokens: Count }),
        total_tokens: Count,
      }),
    ),
  },
  { title: 'Response' },
);

/** An event of a response. */
export const STREAM = `event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"${MESSAGE.id}","output_index":0,"content_index":0,"delta":"Robin","logprobs":[]}

`;

/** Request bodies by name. */
export const EXAMPLES = {
  text: {
    summary: 'A question',
    value: { model: MODEL, input: 'Name three birds.', max_output_tokens: 50 },
  },
  items: {
    summary: 'A conversation in JSON',
    value: {
      model: MODEL,
      instructions: 'Answer in one sentence.',
      input: [{ role: 'user', content: 'Which bird is the largest?' }],
      max_output_tokens: 50,
      text: { format: { type: 'json_object' } },
    },
  },
};
