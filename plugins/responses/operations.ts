import type { Operation, OperationTable, OperationUrl } from '../../src/contract/engines/operation.ts';
import { toServiceError } from '../../src/http/response/error-body.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { parseChat } from './chat/schema.ts';
import type { Chat } from './chat/service.ts';
import { embeddingList } from './embeddings/response.ts';
import { parseEmbed } from './embeddings/schema.ts';
import type { Embedder } from './embeddings/service.ts';
import { parseResponse } from './responses/schema.ts';
import type { Responder } from './responses/service.ts';

export interface OperationParts {
  readonly chat: Chat;
  readonly embedder: Embedder;
  readonly responder: Responder;
}

/**
 * What the routes of this plugin do, for lines of batches. An error that is no `ServiceError` comes as the one that
 * the route would answer, with what was thrown as its cause.
 */
export function textOperations({ chat, embedder, responder }: OperationParts): OperationTable {
  const calls: Readonly<Record<OperationUrl, Operation['execute']>> = {
    '/v1/chat/completions': async (body, order, signal) =>
      chat.complete(parseChat(withoutStream(body)), order, signal),
    '/v1/embeddings': async (body, order, signal) => {
      const ask = parseEmbed(body);
      const parts: string[] = [];
      for await (const part of embeddingList(await embedder.embed(ask, order, signal), ask)) {
        signal.throwIfAborted();
        parts.push(part);
      }
      return parts.join('');
    },
    '/v1/responses': async (body, order, signal) =>
      responder.respond(parseResponse(withoutStream(body)), order, signal),
  };
  return {
    get: (url) => ({
      url,
      async execute(body, order, signal) {
        try {
          return await calls[url](body, order, signal);
        } catch (error) {
          signal.throwIfAborted();
          throw toServiceError(error);
        }
      },
    }),
  };
}

/** The body without what says how it is answered (openai-wire 3.3), if it says it well. */
function withoutStream(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { stream, stream_options: _, ...rest } = body;
  const isFine = stream === undefined || stream === null || typeof stream === 'boolean';
  return isFine ? rest : { ...rest, stream };
}
