import { Elysia } from 'elysia';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import type { TextEvent } from '../../../src/contract/engines/text.ts';
import { SSE_DONE, SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { jsonAnswer } from '../shared/json-body.ts';
import { ChunkMaker } from './completion.ts';
import { COMPLETE } from './openapi.ts';
import { parseChat } from './schema.ts';
import type { Chat } from './service.ts';

const PATH = '/v1/chat/completions';
/** Where clients ask that append to a base URL which ends with the path already (partner-and-upstreams A.4). */
export const DOUBLED_CHAT_PATH = `${PATH}/chat/completions`;

/** POST /v1/chat/completions, as in OpenAI's SDK (spec 4.8), also under its doubled path. */
export function chatRoutes(chat: Chat, calls: Calls) {
  const complete = async ({ body, request }: { body: unknown; request: Request }) => {
    const ask = parseChat(body);
    const caller = callerOf(request);
    const idleTimeout = idleTimeoutOf(request);
    idleTimeout.suspend();
    const left = new AbortController();
    try {
      const signal = AbortSignal.any([request.signal, left.signal]);
      const order = { caller, priority: 'interactive', calls } as const;
      if (!ask.stream) return jsonAnswer(await chat.complete(ask, order, signal));
      const events = await chat.answer(ask, order, signal);
      const maker = new ChunkMaker(chat.head(ask.model), ask.includeUsage);
      const chunks = records(events, maker, chat, caller, left);
      return new Response(streamedBody(chunks, left, request), { headers: SSE_HEADERS });
    } finally {
      idleTimeout.resume();
    }
  };
  return new Elysia({ name: 'chat', tags: ['text'] })
    .post(PATH, complete, { detail: COMPLETE })
    .post(DOUBLED_CHAT_PATH, complete, { detail: { hide: true } });
}

/** The answer as server-sent events. A failure half-way is their last one. */
async function* records(
  events: AsyncGenerator<TextEvent, void, undefined>,
  maker: ChunkMaker,
  chat: Chat,
  caller: Caller,
  left: AbortController,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const event of events) {
      for (const chunk of maker.chunksOf(event)) yield sseEvent(chunk);
    }
    yield SSE_DONE;
  } catch (error) {
    // Whoever has left is no failure.
    if (!left.signal.aborted) chat.failedLate(error, caller);
    yield sseError(error);
  }
}
