import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { modelReports, readyTogether } from '../../src/kit/ready-reports.ts';
import { Chat } from './chat.ts';
import { chatRoutes } from './chat-routes.ts';
import { Embedder } from './embed.ts';
import { embeddingRoutes } from './embed-routes.ts';
import { Responder } from './respond.ts';
import { responseRoutes } from './response-routes.ts';
import { serviceTools } from './tools/service-tools.ts';
import { UnfinishedWatch } from './unfinished-watch.ts';

export interface TextOptions {
  /** Requests of one organization that may be open at once, for each of the endpoints. */
  readonly requestsPerOrganization: number;
}

type Needs = 'text' | 'embed' | 'calls' | 'responses' | 'codeRunner' | 'webSearch' | 'clock' | 'log';

/** Text: POST /v1/chat/completions, /v1/embeddings and /v1/responses with what belongs to stored responses. */
export function responsesPlugin({ requestsPerOrganization }: TextOptions): FeaturePlugin<Needs> {
  return {
    name: 'responses',
    needs: ['text', 'embed', 'calls', 'responses', 'codeRunner', 'webSearch', 'clock', 'log'],
    offers: [],
    async setup(slots) {
      const parts = { ...slots, requestsPerOrganization };
      const chat = new Chat(parts);
      const embedder = new Embedder(parts);
      const responder = new Responder({ ...parts, tools: serviceTools(slots) });
      const services = [chat, embedder, responder];
      const watch = new UnfinishedWatch(slots);
      return {
        provides: {},
        routes: new Elysia({ name: 'responses-plugin' })
          .use(chatRoutes(chat, slots.clock))
          .use(embeddingRoutes(embedder))
          .use(responseRoutes(responder, slots.responses)),
        ready: () => readyTogether([...modelReports(slots.text), ...modelReports(slots.embed)]),
        async drain(until) {
          await Promise.all(services.map((service) => service.drain(until)));
        },
        async close() {
          for (const service of services) service.stop();
          await watch.close();
        },
      };
    },
  };
}
