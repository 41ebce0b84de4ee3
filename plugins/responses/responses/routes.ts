import { Elysia } from 'elysia';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import { booleanIn, integerIn, pageIn, readQuery } from '../../../src/http/request/query.ts';
import { SSE_HEADERS, sseNamedEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { jsonResponse } from '../shared/json-body.ts';
import { INCLUDABLE, type Includable, type OutputItem, shownItem } from './items/output-items.ts';
import { type ResponseObject, shownResponse } from './items/response-object.ts';
import * as docs from './openapi.ts';
import { parseResponse } from './schema.ts';
import type { ResponseService } from './service.ts';
import type { ResponseEvent } from './stream/state.ts';

const PAGE = { minimum: 1, maximum: 100, fallback: 20 };
const SEQUENCE_NUMBER = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 };

/** The Responses API, compatible with OpenAI's SDK (spec 4.5). */
export function responseRoutes(responses: ResponseService, store: ResponseStore, calls: Calls) {
  return new Elysia({ name: 'responses', tags: ['text'] })
    .post(
      '/v1/responses',
      async ({ body, request }) => {
        const params = parseResponse(body);
        const idleTimeout = idleTimeoutOf(request);
        idleTimeout.suspend();
        const disconnected = new AbortController();
        try {
          const signal = AbortSignal.any([request.signal, disconnected.signal]);
          const context = { caller: callerOf(request), priority: 'interactive', calls } as const;
          if (!params.stream) return jsonResponse(await responses.createResponse(params, context, signal));
          const events = await responses.streamEvents(params, context, signal);
          return new Response(streamedBody(sseRecords(events), disconnected, request), {
            headers: SSE_HEADERS,
          });
        } finally {
          idleTimeout.resume();
        }
      },
      { detail: docs.CREATE },
    )
    .get(
      '/v1/responses/:id',
      async ({ params, request }) => {
        const { include, query } = queryWithInclude(request, [
          'stream',
          'starting_after',
          'include_obfuscation',
        ]);
        booleanIn('include_obfuscation', query.include_obfuscation);
        integerIn('starting_after', query.starting_after, SEQUENCE_NUMBER);
        if (booleanIn('stream', query.stream)) {
          const message =
            "'stream' must be false: the events of a response are sent only once, while it is created.";
          throw invalidRequest(message, 'stream', 'unsupported_parameter');
        }
        const response = await found(store, callerOf(request), params.id);
        return shownResponse(response, include);
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/responses/:id',
      async ({ params: { id }, request }) => {
        const { organization } = callerOf(request);
        if (!(await store.delete(organization, id))) throw unknownResponse(id);
        return { id, object: 'response', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .post(
      '/v1/responses/:id/cancel',
      async ({ params, request }) => {
        await found(store, callerOf(request), params.id);
        throw invalidRequest('Only background responses can be cancelled.');
      },
      { detail: docs.CANCEL },
    )
    .get(
      '/v1/responses/:id/input_items',
      async ({ params: { id }, request }) => {
        const { include, query } = queryWithInclude(request, ['limit', 'order', 'after']);
        const page = await store.inputItems(callerOf(request).organization, id, pageIn(query, PAGE));
        if (page === undefined) throw unknownResponse(id);
        // Input items may be output items of earlier responses.
        const data = page.items.map((item) => shownItem(item as OutputItem, include));
        return {
          object: 'list',
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: page.hasMore,
        };
      },
      { detail: docs.INPUT_ITEMS },
    );
}

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
