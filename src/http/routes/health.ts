import { Elysia, t } from 'elysia';
import { type ReadinessInput, readinessStatus } from './readiness.ts';

const PluginReadinessSchema = t.Object({
  state: t.String({ description: '`on`, `starting`, `stopping` or `failed`', examples: ['on'] }),
  ready: t.Boolean({ description: 'Whether the plugin accepts work with at least one of its models' }),
  detail: t.Optional(t.String({ description: 'Why it is not ready, or what it runs on' })),
});
const ModelReadinessSchema = t.Object({
  task: t.String({ description: 'As in GET /v1/models', examples: ['speech'] }),
  ready: t.Boolean({ description: 'False while its upstream server or its worker process is unavailable' }),
  required: t.Boolean({ description: 'Set by `required = true` in CONFIG' }),
  detail: t.Optional(t.String({ description: 'Why it is not ready, or what it runs on' })),
});
const StorageReadinessSchema = t.Object({
  ready: t.Boolean({ description: 'False while the store is full' }),
  detail: t.Optional(t.String({ description: 'Why it is not ready', examples: ['storage is full'] })),
});
const Readiness = t.Object({
  status: t.String({
    description: '`ready` (200); `starting`, `unavailable` or `stopping` (503)',
    examples: ['ready'],
  }),
  plugins: t.Record(t.String(), PluginReadinessSchema, {
    description:
      'Plugins that are not off. A plugin that is starting, stopping or failed does not change the status',
  }),
  models: t.Record(t.String(), ModelReadinessSchema, { description: 'Models of the plugins that are on' }),
  storage: t.Record(t.String(), StorageReadinessSchema, {
    description: 'Whether `database`, `blobs` (files, voices, videos) and `data_dir` (uploads) have space',
  }),
});

/**
 * `GET /healthz`: liveness. `GET /readyz`: readiness, with a state for each plugin and model. Neither needs an API key.
 * @param input is called for each request to `/readyz`.
 */
export function healthRoutes(input: () => ReadinessInput) {
  return new Elysia({ name: 'health', tags: ['service'] })
    .get('/healthz', () => ({ status: 'ok' }), {
      response: t.Object({ status: t.String({ examples: ['ok'] }) }),
      detail: {
        summary: 'Liveness',
        description: 'Returns 200 as long as the process serves requests. No API key is needed.',
        security: [],
      },
    })
    .get(
      '/readyz',
      ({ set }) => {
        const now = input();
        const status = readinessStatus(now);
        if (status !== 'ready') set.status = 503;
        const models = [...now.models].map(([id, { task, ready, detail }]) => {
          const required = now.requiredModels.has(id);
          return [id, { task, ready, required, ...(detail !== undefined && { detail }) }] as const;
        });
        return {
          status,
          plugins: Object.fromEntries(now.plugins),
          models: Object.fromEntries(models),
          storage: Object.fromEntries(now.storage),
        };
      },
      {
        response: { 200: Readiness, 503: Readiness },
        detail: {
          summary: 'Readiness',
          description:
            'For load balancers. Returns 503 during startup and shutdown, while the database is full, while all models are unavailable, and while a model with `required = true` is unavailable. No API key is needed.',
          security: [],
        },
      },
    );
}
