import { Type } from '@sinclair/typebox';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { Route } from '../../../src/contract/route.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import {
  deletionSchema,
  idParameter,
  jsonBody,
  jsonResponse,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { orNull } from '../../../src/http/openapi/schemas.ts';
import { booleanIn, integerIn, type PageQuery, pageIn, readQuery } from '../../../src/http/request/query.ts';
import { deletedBody, listBody } from '../../../src/http/response/bodies.ts';
import { SSE_HEADERS, sseNamedEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { type RouteQuery, route } from '../../../src/http/route.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { jsonText } from '../shared/json-body.ts';
import { EXAMPLES, ID, Item, ResponseSchema, STREAM } from './examples.ts';
import { INCLUDABLE, type Includable, type OutputItem, shownItem } from './items/output-items.ts';
import { type ResponseObject, shownResponse } from './items/response-object.ts';
import { parseResponse, ResponseBody } from './schema.ts';
import type { ResponseService } from './service.ts';
import type { ResponseEvent } from './stream/state.ts';

export interface ResponseServices {
  readonly responses: ResponseService;
  readonly store: ResponseStore;
  readonly calls: Calls;
}

const PAGE = { minimum: 1, maximum: 100, fallback: 20 };
const SEQUENCE_NUMBER = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 };

/** Errors of all routes that look up a stored response. */
const LOOK_UP_FAILURES = {
  404: 'No such response in your organization',
  429: 'Too many requests',
};
const ID_PARAMETER = idParameter('id', ID);

const INCLUDE = {
  name: 'include[]',
  in: 'query',
  description: 'Additional tool data to include.',
  schema: { type: 'array', items: { type: 'string', enum: INCLUDABLE } },
} as const;

const RETRIEVE_QUERY: RouteQuery<readonly Includable[]> = {
  parameters: [
    INCLUDE,
    {
      name: 'stream',
      in: 'query',
      description: 'Only `false`: events are sent only once.',
      schema: { type: 'boolean', enum: [false], default: false },
    },
  ],
  read(request) {
    const { include, query } = queryWithInclude(request, ['stream', 'starting_after', 'include_obfuscation']);
    booleanIn('include_obfuscation', query.include_obfuscation);
    integerIn('starting_after', query.starting_after, SEQUENCE_NUMBER);
    if (booleanIn('stream', query.stream)) {
      const message =
        "'stream' must be false: the events of a response are sent only once, while it is created.";
      throw invalidRequest(message, 'stream', 'unsupported_parameter');
    }
    return include;
  },
};

interface ItemQuery extends PageQuery {
  readonly include: readonly Includable[];
}

const ITEM_QUERY: RouteQuery<ItemQuery> = {
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'Page size.',
      schema: { type: 'integer', minimum: PAGE.minimum, maximum: PAGE.maximum, default: PAGE.fallback },
    },
    {
      name: 'order',
      in: 'query',
      description: 'Newest first or oldest first.',
      schema: { type: 'string', enum: ['desc', 'asc'], default: 'desc' },
    },
    {
      name: 'after',
      in: 'query',
      description: 'Id of the last item of the previous page.',
      schema: { type: 'string' },
    },
    INCLUDE,
  ],
  read(request) {
    const { include, query } = queryWithInclude(request, ['limit', 'order', 'after']);
    return { include, ...pageIn(query, PAGE) };
  },
};

/** The Responses API, compatible with OpenAI's SDK (spec 4.5). */
export const RESPONSE_ROUTES: readonly Route<ResponseServices>[] = [
  route({
    method: 'POST',
    path: '/v1/responses',
    tag: 'text',
    summary: 'Response',
    description:
      'Generates a response to a text or to items, continues a stored response, and calls client functions and ' +
      'built-in tools. `previous_response_id` continues a stored response. Returns one JSON object, or server-sent events from `response.created` to `response.completed`, ' +
      '`response.incomplete` or `response.failed`.',
    body: {
      json: { schema: jsonBody({ ...ResponseBody, title: 'Response request' }), examples: EXAMPLES },
      read: parseResponse,
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
      404: 'No such conversation or item',
      415: 'The body is not JSON',
      500: 'The model failed before the response started',
      502: 'The upstream server failed before the response started',
    },
    async handle({ body: params, caller, request }, { responses, calls }: ResponseServices) {
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, disconnected.signal]);
        const context = { caller, priority: 'interactive', calls } as const;
        if (!params.stream) return jsonText(await responses.createResponse(params, context, signal));
        const events = await responses.streamEvents(params, context, signal);
        return new Response(streamedBody(sseRecords(events), disconnected, request), {
          headers: SSE_HEADERS,
        });
      } finally {
        idleTimeout.resume();
      }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/responses/:id',
    tag: 'text',
    summary: 'Stored response',
    description: 'Returns the current state. A response in progress contains its finished items.',
    pathParameters: [ID_PARAMETER],
    query: RETRIEVE_QUERY,
    responses: {
      200: jsonResponse('The response', ResponseSchema),
      400: WORK_FAILURES[400],
      ...LOOK_UP_FAILURES,
    },
    handle: async ({ caller, params, query: include }, { store }: ResponseServices) =>
      shownResponse(await found(store, caller, params.id), include),
  }),
  route({
    method: 'DELETE',
    path: '/v1/responses/:id',
    tag: 'text',
    summary: 'Delete a stored response',
    description: 'Responses that continue it are kept, but cannot be continued any further.',
    pathParameters: [ID_PARAMETER],
    responses: {
      200: jsonResponse('The response is deleted', deletionSchema('response', ID)),
      ...LOOK_UP_FAILURES,
    },
    async handle({ caller, params: { id } }, { store }: ResponseServices) {
      if (!(await store.delete(caller.organization, id))) throw unknownResponse(id);
      return deletedBody('response', id);
    },
  }),
  route({
    method: 'POST',
    path: '/v1/responses/:id/cancel',
    tag: 'text',
    summary: 'Cancel a response',
    description:
      'Always rejected, because background responses are not supported. Close the connection to stop a response.',
    pathParameters: [ID_PARAMETER],
    responses: { 400: 'Not a background response', ...LOOK_UP_FAILURES },
    async handle({ caller, params }, { store }: ResponseServices) {
      await found(store, caller, params.id);
      throw invalidRequest('Only background responses can be cancelled.');
    },
  }),
  route({
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    tag: 'text',
    summary: 'Input items of a response',
    description: 'Lists the input items of the response, without those of the responses that it continues.',
    pathParameters: [ID_PARAMETER],
    query: ITEM_QUERY,
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
    async handle({ caller, params: { id }, query }, { store }: ResponseServices) {
      const { include, ...paging } = query;
      const page = await store.inputItems(caller.organization, id, paging);
      if (page === undefined) throw unknownResponse(id);
      // Input items may be output items of earlier responses.
      return listBody(
        page.items.map((item) => shownItem(item as OutputItem, include)),
        page.hasMore,
      );
    },
  }),
];

async function* sseRecords(
  events: AsyncGenerator<ResponseEvent, void, undefined>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for await (const event of events) yield sseNamedEvent(event.type, event);
}

async function found(store: ResponseStore, { organization }: Caller, id: string): Promise<ResponseObject> {
  const response = await store.get(organization, id);
  if (response === undefined) throw unknownResponse(id);
  // The store returns responses unchanged.
  return response as ResponseObject;
}

function unknownResponse(id: string): ServiceError {
  return new ServiceError('not_found', `Response with id '${id.slice(0, 100)}' not found.`);
}

/** The parameters of a query with `include`, which may be repeated, with or without brackets, or be a comma-separated list. */
function queryWithInclude<Name extends string>(request: Request, names: readonly Name[]) {
  const { searchParams } = addressOf(request);
  const include = ['include', 'include[]']
    .flatMap((name) => searchParams.getAll(name))
    .flatMap((value) => value.split(',').map(includable));
  return { include, query: readQuery(request, names) };
}

function includable(text: string): Includable {
  const value = INCLUDABLE.find((each) => each === text);
  if (value !== undefined) return value;
  throw invalidRequest(`'include' must contain only: ${INCLUDABLE.join(', ')}.`, 'include', 'invalid_value');
}
