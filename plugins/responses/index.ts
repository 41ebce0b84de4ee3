import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { chatRoutes, DOUBLED_CHAT_PATH } from './chat/routes.ts';
import { Chat } from './chat/service.ts';
import { embeddingRoutes } from './embeddings/routes.ts';
import { Embedder } from './embeddings/service.ts';
import { textOperations } from './operations.ts';
import { responseRoutes } from './responses/routes.ts';
import { Responder } from './responses/service.ts';
import { unfinishedWatch } from './responses/stale-responses.ts';
import { serviceTools } from './responses/tools/service-tools.ts';

export interface TextOptions {
  /** Requests of one organization that may be open at once, of all endpoints together. */
  readonly requestsPerOrganization: number;
}

type Needs = 'text' | 'embed' | 'calls' | 'responses' | 'codeRunner' | 'webSearch' | 'clock' | 'log';

/**
 * Text: POST /v1/chat/completions, /v1/embeddings and /v1/responses with what belongs to stored responses; the same
 * three without HTTP.
 */
export function responsesPlugin({
  requestsPerOrganization,
}: TextOptions): FeaturePlugin<Needs, 'operations'> {
  return {
    name: 'responses',
    needs: ['text', 'embed', 'calls', 'responses', 'codeRunner', 'webSearch', 'clock', 'log'],
    offers: ['operations'],
    paths: [
      '/v1/chat/completions',
      DOUBLED_CHAT_PATH,
      '/v1/embeddings',
      '/v1/responses',
      '/v1/responses/:id',
      '/v1/responses/:id/cancel',
      '/v1/responses/:id/input_items',
    ],
    async setup(slots) {
      // One for all: whoever asks two endpoints has no more places than whoever asks one.
      const open = new OpenRequests('text', requestsPerOrganization);
      const parts = { ...slots, open };
      const chat = new Chat(parts);
      const embedder = new Embedder(parts);
      const responder = new Responder({ ...parts, tools: serviceTools(slots) });
      const watch = unfinishedWatch({ ...slots, open: () => responder.stored() });
      return {
        provides: { operations: textOperations({ chat, embedder, responder }) },
        routes: new Elysia({ name: 'responses-plugin' })
          .use(chatRoutes(chat, slots.calls))
          .use(embeddingRoutes(embedder, slots.calls))
          .use(responseRoutes(responder, slots.responses, slots.calls)),
        ready: () => readyWithAnyModel([...modelReports(slots.text), ...modelReports(slots.embed)]),
        drain: (until) => open.drain(until),
        async close() {
          open.stop();
          await watch.close();
        },
      };
    },
  };
}
