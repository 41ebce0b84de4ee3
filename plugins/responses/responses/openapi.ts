/** OpenAPI documentation of the Responses API. */

import { Type } from '@sinclair/typebox';
import {
  deletionSchema,
  errorResponse,
  idParameter,
  jsonBody,
  jsonResponse,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { orNull, UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { INCLUDABLE } from './items/output-items.ts';
import { ResponseBody } from './schema.ts';

const MODEL = 'smollm2-135m-instruct';
const ID = 'resp_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const MESSAGE = {
  id: 'msg_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f_0',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Robin, wren, swift.', annotations: [], logprobs: [] }],
};

const Count = Type.Integer({ minimum: 0 });
const Item = Type.Object(
  { id: Type.String(), type: Type.String() },
  {
    title: 'Response item',
    description: 'A message, a function call, reasoning, or a call of a built-in tool.',
    additionalProperties: true,
  },
);

/** All fields are defined in openai-wire 6.7. The schema lists those that most clients read. */
const ResponseSchema = Type.Object(
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

const STREAM = `event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"${MESSAGE.id}","output_index":0,"content_index":0,"delta":"Robin","logprobs":[]}

`;

const NOT_FOUND = errorResponse('No such response in your organization');

/** Errors of all routes that look up a stored response. */
const LOOK_UP_FAILURES = { 401: WORK_FAILURES[401], 404: NOT_FOUND, 429: errorResponse('Too many requests') };

const ID_PARAMETER = idParameter('id', ID);

const INCLUDE = {
  name: 'include[]',
  in: 'query' as const,
  description: 'Additional tool data to include.',
  schema: { type: 'array' as const, items: { type: 'string' as const, enum: [...INCLUDABLE] } },
};

export const CREATE = {
  summary: 'Response',
  description:
    'Generates a response to a text or to items, continues a stored response, and calls client functions and ' +
    'built-in tools. `previous_response_id` continues a stored response. Returns one JSON object, or server-sent events from `response.created` to `response.completed`, ' +
    '`response.incomplete` or `response.failed`.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: jsonBody({ ...ResponseBody, title: 'Response request' }),
        examples: {
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
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The response, or its events',
      content: {
        'application/json': { schema: toPlainSchema(ResponseSchema) },
        'text/event-stream': { example: STREAM },
      },
    },
    ...WORK_FAILURES,
    404: errorResponse('No such conversation or item'),
    415: errorResponse('The body is not JSON'),
    500: errorResponse('The model failed before the response started'),
    502: errorResponse('The upstream server failed before the response started'),
  },
};

export const RETRIEVE = {
  summary: 'Stored response',
  description: 'Returns the current state. A response in progress contains its finished items.',
  parameters: [
    ID_PARAMETER,
    INCLUDE,
    {
      name: 'stream',
      in: 'query' as const,
      description: 'Only `false`: events are sent only once.',
      schema: { type: 'boolean' as const, enum: [false], default: false },
    },
  ],
  responses: {
    200: jsonResponse('The response', ResponseSchema),
    400: WORK_FAILURES[400],
    ...LOOK_UP_FAILURES,
  },
};

export const DELETE = {
  summary: 'Delete a stored response',
  parameters: [ID_PARAMETER],
  description: 'Responses that continue it are kept, but cannot be continued any further.',
  responses: {
    200: jsonResponse('The response is deleted', deletionSchema('response', ID)),
    ...LOOK_UP_FAILURES,
  },
};

export const CANCEL = {
  summary: 'Cancel a response',
  parameters: [ID_PARAMETER],
  description:
    'Always rejected, because background responses are not supported. Close the connection to stop a response.',
  responses: { 400: errorResponse('Not a background response'), ...LOOK_UP_FAILURES },
};

export const INPUT_ITEMS = {
  summary: 'Input items of a response',
  description: 'Lists the input items of the response, without those of the responses that it continues.',
  parameters: [
    ID_PARAMETER,
    {
      name: 'limit',
      in: 'query' as const,
      description: 'Page size.',
      schema: { type: 'integer' as const, minimum: 1, maximum: 100, default: 20 },
    },
    {
      name: 'order',
      in: 'query' as const,
      description: 'Newest first or oldest first.',
      schema: { type: 'string' as const, enum: ['desc', 'asc'], default: 'desc' },
    },
    {
      name: 'after',
      in: 'query' as const,
      description: 'Id of the last item of the previous page.',
      schema: { type: 'string' as const },
    },
    INCLUDE,
  ],
  responses: {
    200: jsonResponse(
      'A page of items',
      Type.Object({
        object: Type.Literal('list'),
        data: Type.Array(Item),
        first_id: orNull(Type.String()),
        last_id: orNull(Type.String()),
        has_more: Type.Boolean(),
      }),
    ),
    400: WORK_FAILURES[400],
    ...LOOK_UP_FAILURES,
  },
};
