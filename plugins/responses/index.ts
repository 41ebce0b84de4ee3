import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { chatRoutes, DOUBLED_CHAT_PATH } from './chat/routes.ts';
import { ChatService } from './chat/service.ts';
import { embeddingRoutes } from './embeddings/routes.ts';
import { EmbeddingService } from './embeddings/service.ts';
import { textOperations } from './operations.ts';
import { responseRoutes } from './responses/routes.ts';
import { ResponseService } from './responses/service.ts';
import { staleResponseReaper } from './responses/stale-responses.ts';
import { serviceTools } from './responses/tools/service-tools.ts';

export interface TextOptions {
  /** Maximum number of concurrent requests per organization, for all endpoints together. */
  readonly requestsPerOrganization: number;
}

type Needs = 'text' | 'embed' | 'calls' | 'responses' | 'codeRunner' | 'webSearch' | 'clock' | 'log';

/**
 * Text generation and embeddings: POST /v1/chat/completions, /v1/embeddings, and /v1/responses with its
 * stored responses. The batch plugin uses the same operations without HTTP.
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
      // Shared by all endpoints, so that the limit applies to their sum.
      const open = new OpenRequests('text', requestsPerOrganization);
      const deps = { ...slots, open };
      const chat = new ChatService(deps);
      const embeddings = new EmbeddingService(deps);
      const responses = new ResponseService({ ...deps, tools: serviceTools(slots) });
      const watch = staleResponseReaper({ ...slots, open: () => responses.unfinishedIds() });
      return {
        provides: { operations: textOperations({ chat, embeddings, responses }) },
        routes: new Elysia({ name: 'responses-plugin' })
          .use(chatRoutes(chat, slots.calls))
          .use(embeddingRoutes(embeddings, slots.calls))
          .use(responseRoutes(responses, slots.responses, slots.calls)),
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
