import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import type { TextEvent } from '../../../src/contract/engines/text.ts';
import type { Route } from '../../../src/contract/route.ts';
import { jsonBody, toPlainSchema, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { SSE_DONE, SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { type RouteCall, route } from '../../../src/http/route.ts';
import { jsonText } from '../shared/json-body.ts';
import { ChunkBuilder } from './completion.ts';
import { Completion, EXAMPLES, STREAM } from './examples.ts';
import { ChatBody, type ChatParams, parseChat } from './schema.ts';
import type { ChatService } from './service.ts';

const PATH = '/v1/chat/completions';
/**
 * Path used by clients that append to a base URL which already ends with the path (partner-and-upstreams
 * A.4).
 */
const DOUBLED_CHAT_PATH = `${PATH}/chat/completions`;

export interface ChatServices {
  readonly chat: ChatService;
  readonly calls: Calls;
}

const COMPLETE = {
  method: 'POST',
  body: {
    json: { schema: jsonBody({ ...ChatBody, title: 'Chat completion request' }), examples: EXAMPLES },
    read: parseChat,
  },
  handle: complete,
} as const;

/** POST /v1/chat/completions, compatible with OpenAI's SDK (spec 4.8), also under the doubled path. */
export const CHAT_ROUTES: readonly Route<ChatServices>[] = [
  route({
    ...COMPLETE,
    path: PATH,
    tag: 'text',
    summary: 'Chat completion',
    description:
      'Generates the next message of a conversation, as one JSON object or as server-sent events. Fields without effect are ignored.',
    responses: {
      200: {
        description: 'The completion, or its chunks',
        content: {
          'application/json': { schema: toPlainSchema(Completion) },
          'text/event-stream': { example: STREAM },
        },
      },
      ...WORK_FAILURES,
      415: 'The body is not JSON',
      500: 'The model failed',
      502: 'The upstream server failed',
    },
  }),
  route({ ...COMPLETE, path: DOUBLED_CHAT_PATH, isHidden: true }),
];

async function complete(
  { body: params, caller, request }: Pick<RouteCall<'', unknown, ChatParams>, 'body' | 'caller' | 'request'>,
  { chat, calls }: ChatServices,
): Promise<Response> {
  const idleTimeout = idleTimeoutOf(request);
  idleTimeout.suspend();
  const disconnected = new AbortController();
  try {
    const signal = AbortSignal.any([request.signal, disconnected.signal]);
    const context = { caller, priority: 'interactive', calls } as const;
    if (!params.stream) return jsonText(await chat.complete(params, context, signal));
    const events = await chat.streamEvents(params, context, signal);
    const builder = new ChunkBuilder(chat.head(params.model), params.includeUsage);
    const chunks = sseRecords(events, builder, chat, caller, disconnected);
    return new Response(streamedBody(chunks, disconnected, request), { headers: SSE_HEADERS });
  } finally {
    idleTimeout.resume();
  }
}

/** Converts the completion to server-sent events. A failure after the start is the last event. */
async function* sseRecords(
  events: AsyncGenerator<TextEvent, void, undefined>,
  builder: ChunkBuilder,
  chat: ChatService,
  caller: Caller,
  disconnected: AbortController,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const event of events) {
      for (const chunk of builder.toChunks(event)) yield sseEvent(chunk);
    }
    yield SSE_DONE;
  } catch (error) {
    // A disconnected client is not logged as a failure.
    if (!disconnected.signal.aborted) chat.logStreamFailure(error, caller);
    yield sseError(error);
  }
}
