import { modelReports, readyWithAnyModel } from '../../src/kit/lifecycle/readiness.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { CHAT_ROUTES } from './chat/routes.ts';
import { ChatService } from './chat/service.ts';
import { EMBEDDING_ROUTES } from './embeddings/routes.ts';
import { EmbeddingService } from './embeddings/service.ts';
import { textOperations } from './operations.ts';
import { RESPONSE_ROUTES } from './responses/routes.ts';
import { ResponseService } from './responses/service.ts';
import { staleResponseReaper } from './responses/stale-responses.ts';
import { serviceTools } from './responses/tools/service-tools.ts';
import { responsesSettings } from './settings.ts';

/**
 * Text generation and embeddings: POST /v1/chat/completions, /v1/embeddings, and /v1/responses with its
 * stored responses. The batch plugin uses the same operations without HTTP.
 */
export const responses = definePlugin({
  name: 'responses',
  needs: ['text', 'embed', 'calls', 'responses', 'codeRunner', 'webSearch', 'clock', 'log'],
  offers: ['operations'],
  routes: [...CHAT_ROUTES, ...EMBEDDING_ROUTES, ...RESPONSE_ROUTES],
  settings: responsesSettings,
  usage: ['POST /v1/chat/completions', 'POST /v1/embeddings', 'POST /v1/responses'],
  tags: [{ name: 'text', description: 'Language models: chat, responses, embeddings' }],
  setup({ services, settings: { limits }, lifecycle }) {
    const { text, embed, calls } = services;
    // Shared by all endpoints, so that the limit applies to their sum.
    const open = lifecycle.drains(new OpenRequests('text', limits.textRequestsPerOrganization));
    const deps = { ...services, open };
    const chat = new ChatService(deps);
    const embeddings = new EmbeddingService(deps);
    const stored = new ResponseService({ ...deps, tools: serviceTools(services) });
    lifecycle.closes(staleResponseReaper({ ...services, open: () => stored.unfinishedIds() }));
    return {
      provides: { operations: textOperations({ chat, embeddings, responses: stored }) },
      services: { chat, embeddings, responses: stored, store: services.responses, calls },
      ready: () => readyWithAnyModel([...modelReports(text), ...modelReports(embed)]),
    };
  },
});
