import { Elysia } from 'elysia';
import type { Caller } from '../../src/contract/caller.ts';
import type { Clock } from '../../src/contract/clock.ts';
import { newId } from '../../src/contract/id.ts';
import type { TextEvent } from '../../src/contract/text.ts';
import { callerOf } from '../../src/http/caller.ts';
import { SSE_DONE, SSE_HEADERS, sseError, sseEvent } from '../../src/http/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../src/http/streamed-body.ts';
import type { Chat } from './chat.ts';
import { ChunkMaker, CompletionBuilder, type CompletionHead } from './chat-completion.ts';
import { COMPLETE } from './chat-docs.ts';
import { parseChat } from './chat-model.ts';

/** POST /v1/chat/completions, as in OpenAI's SDK (spec 4.8). */
export function chatRoutes(chat: Chat, clock: Clock) {
  return new Elysia({ name: 'chat', tags: ['text'] }).post(
    '/v1/chat/completions',
    async ({ body, request }) => {
      const ask = parseChat(body);
      const caller = callerOf(request);
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const left = new AbortController();
      try {
        const events = await chat.answer(ask, caller, AbortSignal.any([request.signal, left.signal]));
        const head: CompletionHead = {
          id: newId('completion'),
          created: Math.floor(clock.now() / 1000),
          model: ask.model,
        };
        if (!ask.stream) return await completionOf(events, head);
        const chunks = records(events, new ChunkMaker(head, ask.includeUsage), chat, caller, left);
        return new Response(streamedBody(chunks, left, idleTimeout), { headers: SSE_HEADERS });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: COMPLETE },
  );
}

async function completionOf(events: AsyncIterable<TextEvent>, head: CompletionHead) {
  const builder = new CompletionBuilder(head);
  for await (const event of events) {
    const completion = builder.add(event);
    if (completion !== undefined) return completion;
  }
  throw new Error('the answer has no end');
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
