import { Type } from '@sinclair/typebox';
import type { Route } from '../../contract/route.ts';
import { checkedResponse } from '../openapi/operation.ts';
import { route } from '../route.ts';
import { type ReadinessInput, readinessStatus } from './readiness.ts';

const PluginReadinessSchema = Type.Object({
  state: Type.String({ description: '`on`, `starting`, `stopping` or `failed`', examples: ['on'] }),
  ready: Type.Boolean({ description: 'Whether the plugin accepts work with at least one of its models' }),
  detail: Type.Optional(Type.String({ description: 'Why it is not ready, or what it runs on' })),
});
const ModelReadinessSchema = Type.Object({
  task: Type.String({ description: 'As in GET /v1/models', examples: ['speech'] }),
  ready: Type.Boolean({
    description: 'False while its upstream server or its worker process is unavailable',
  }),
  required: Type.Boolean({ description: 'Set by `required = true` in CONFIG' }),
  detail: Type.Optional(Type.String({ description: 'Why it is not ready, or what it runs on' })),
});
const StorageReadinessSchema = Type.Object({
  ready: Type.Boolean({ description: 'False while the store is full' }),
  detail: Type.Optional(Type.String({ description: 'Why it is not ready', examples: ['storage is full'] })),
});
const Readiness = Type.Object({
  status: Type.String({
    description: '`ready` (200); `starting`, `unavailable` or `stopping` (503)',
    examples: ['ready'],
  }),
  plugins: Type.Record(Type.String(), PluginReadinessSchema, {
    description:
      'Plugins that are not off. A plugin that is starting, stopping or failed does not change the status',
  }),
  models: Type.Record(Type.String(), ModelReadinessSchema, {
    description: 'Models of the plugins that are on',
  }),
  storage: Type.Record(Type.String(), StorageReadinessSchema, {
    description: 'Whether `database`, `blobs` (files, voices, videos) and `data_dir` (uploads) have space',
  }),
});

/**
 * `GET /healthz`: liveness. `GET /readyz`: readiness, with a state for each plugin and model. Neither needs an API key.
 * @param input is called for each request to `/readyz`.
 */
export function healthRoutes(input: () => ReadinessInput): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      summary: 'Liveness',
      description: 'Returns 200 as long as the process serves requests. No API key is needed.',
      tag: 'service',
      isPublic: true,
      responses: { 200: checkedResponse(Type.Object({ status: Type.String({ examples: ['ok'] }) })) },
      handle: () => ({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      summary: 'Readiness',
      description:
        'For load balancers. Returns 503 during startup and shutdown, while the database is full, while all models are unavailable, and while a model with `required = true` is unavailable. No API key is needed.',
      tag: 'service',
      isPublic: true,
      responses: { 200: checkedResponse(Readiness), 503: checkedResponse(Readiness, 'Error') },
      handle({ set }) {
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
    }),
  ];
}
