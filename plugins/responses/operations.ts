import type { Operation, OperationTable, OperationUrl } from '../../src/contract/engines/operation.ts';
import { toServiceError } from '../../src/http/response/error-body.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { parseChat } from './chat/schema.ts';
import type { ChatService } from './chat/service.ts';
import { embeddingList } from './embeddings/response.ts';
import { parseEmbed } from './embeddings/schema.ts';
import type { EmbeddingService } from './embeddings/service.ts';
import { parseResponse } from './responses/schema.ts';
import type { ResponseService } from './responses/service.ts';

export interface OperationDeps {
  readonly chat: ChatService;
  readonly embeddings: EmbeddingService;
  readonly responses: ResponseService;
}

/**
 * The operations of the routes, for batch lines. An error that is not a `ServiceError` is thrown as the error
 * that the route would return, with the original error as its cause.
 */
export function textOperations({ chat, embeddings, responses }: OperationDeps): OperationTable {
  const calls: Readonly<Record<OperationUrl, Operation['execute']>> = {
    '/v1/chat/completions': async (body, context, signal) =>
      chat.complete(parseChat(withoutStream(body)), context, signal),
    '/v1/embeddings': async (body, context, signal) => {
      const params = parseEmbed(body);
      const parts: string[] = [];
      for await (const part of embeddingList(await embeddings.embed(params, context, signal), params)) {
        signal.throwIfAborted();
        parts.push(part);
      }
      return parts.join('');
    },
    '/v1/responses': async (body, context, signal) =>
      responses.createResponse(parseResponse(withoutStream(body)), context, signal),
  };
  return {
    get: (url) => ({
      url,
      async execute(body, context, signal) {
        try {
          return await calls[url](body, context, signal);
        } catch (error) {
          signal.throwIfAborted();
          throw toServiceError(error);
        }
      },
    }),
  };
}

/** Removes the streaming options (openai-wire 3.3), if they are valid. */
function withoutStream(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { stream, stream_options: _, ...rest } = body;
  const isFine = stream === undefined || stream === null || typeof stream === 'boolean';
  return isFine ? rest : { ...rest, stream };
}
