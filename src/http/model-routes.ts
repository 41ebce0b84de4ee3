import { Elysia, t } from 'elysia';
import { ServiceError } from '../contract/error.ts';
import type { ModelTable } from '../contract/plugin.ts';
import { ErrorSchema, UnixSeconds } from './schemas.ts';

const Model = t.Object({
  id: t.String({ examples: ['svc-tts'] }),
  object: t.Literal('model'),
  created: UnixSeconds,
  owned_by: t.String({ examples: ['system'] }),
});

/**
 * GET /v1/models and /v1/models/{id}, as in OpenAI's SDK.
 * @param ids every model id of CONFIG, in its order.
 * @param created Unix seconds at which the list was made.
 */
export function modelRoutes(ids: readonly string[], created: number) {
  const models = ids.map((id) => ({ id, object: 'model' as const, created, owned_by: 'system' }));
  return new Elysia({ name: 'models', tags: ['models'] })
    .get('/v1/models', () => ({ object: 'list' as const, data: models }), {
      response: { 200: t.Object({ object: t.Literal('list'), data: t.Array(Model) }) },
      detail: { summary: 'All models' },
    })
    .get(
      '/v1/models/:model',
      ({ params }) => {
        const found = models.find((model) => model.id === params.model);
        if (found !== undefined) return found;
        throw unknownModel(ids, 'not_found');
      },
      {
        params: t.Object({ model: t.String({ description: 'Id of a model.', example: 'svc-tts' }) }),
        response: { 200: Model, 404: ErrorSchema },
        detail: { summary: 'One model' },
      },
    );
}

/**
 * The engine behind an id that a request names.
 * @throws ServiceError `invalid_request` (`model_not_found`) when CONFIG has no such model of this kind.
 */
export function requireModel<Engine>(models: ModelTable<Engine>, id: string): Engine {
  const engine = models.get(id);
  if (engine === undefined) throw unknownModel(models.ids, 'invalid_request');
  return engine;
}

/** The refusal of a model id that CONFIG does not have. */
function unknownModel(ids: readonly string[], kind: 'not_found' | 'invalid_request'): ServiceError {
  return new ServiceError(kind, `There is no such model; allowed: ${ids.join(', ')}.`, {
    param: 'model',
    code: 'model_not_found',
  });
}
