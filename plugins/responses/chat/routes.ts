import { Elysia } from 'elysia';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import type { TextEvent } from '../../../src/contract/engines/text.ts';
import { SSE_DONE, SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { jsonResponse } from '../shared/json-body.ts';
import { ChunkBuilder } from './completion.ts';
import { COMPLETE } from './openapi.ts';
import { parseChat } from './schema.ts';
import type { ChatService } from './service.ts';

const PATH = '/v1/chat/completions';
/**
 * Path used by clients that append to a base URL which already ends with the path (partner-and-upstreams
 * A.4).
 */
export const DOUBLED_CHAT_PATH = `${PATH}/chat/completions`;

/** POST /v1/chat/completions, compatible with OpenAI's SDK (spec 4.8), also under the doubled path. */
export function chatRoutes(chat: ChatService, calls: Calls) {
  const complete = async ({ body, request }: { body: unknown; request: Request }) => {
    const params = parseChat(body);
    const caller = callerOf(request);
    const idleTimeout = idleTimeoutOf(request);
    idleTimeout.suspend();
    const disconnected = new AbortController();
    try {
      const signal = AbortSignal.any([request.signal, disconnected.signal]);
      const context = { caller, priority: 'interactive', calls } as const;
      if (!params.stream) return jsonResponse(await chat.complete(params, context, signal));
      const events = await chat.streamEvents(params, context, signal);
      const builder = new ChunkBuilder(chat.head(params.model), params.includeUsage);
      const chunks = sseRecords(events, builder, chat, caller, disconnected);
      return new Response(streamedBody(chunks, disconnected, request), { headers: SSE_HEADERS });
    } finally {
      idleTimeout.resume();
    }
  };
  return new Elysia({ name: 'chat', tags: ['text'] })
    .post(PATH, complete, { detail: COMPLETE })
    .post(DOUBLED_CHAT_PATH, complete, { detail: { hide: true } });
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
