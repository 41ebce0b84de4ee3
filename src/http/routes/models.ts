import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import { ServiceError } from '../../contract/core/error.ts';
import type { ModelLimits, ModelTable } from '../../contract/plugin.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { ErrorSchema, UnixSeconds } from '../openapi/schemas.ts';

/** What models are for; each is for one thing. */
export const MODEL_TASKS = ['speech', 'transcription', 'chat', 'embeddings', 'video'] as const;
export type ModelTask = (typeof MODEL_TASKS)[number];

/** A model that requests may name. */
export interface ListedModel {
  readonly id: string;
  readonly task: ModelTask;
  readonly limits?: ModelLimits | undefined;
}

const Model = t.Object(
  {
    id: t.String({ examples: ['svc-tts'] }),
    object: t.Literal('model'),
    created: UnixSeconds,
    owned_by: t.String({ examples: ['system'] }),
    task: oneOf(MODEL_TASKS, { description: 'What it is for.' }),
    limits: t.Optional(
      t.Record(
        t.String(),
        t.Object({ minimum: t.Optional(Type.Number()), maximum: t.Optional(Type.Number()) }),
        {
          description:
            'What it takes, where models of its task differ. Of video models: `seconds` of the new segment; `clip_seconds`, `clip_sides` and `clip_short_side` in pixels, `clip_bytes` of what is continued.',
          examples: [{ seconds: { minimum: 4, maximum: 15 }, clip_seconds: { minimum: 2, maximum: 15 } }],
        },
      ),
    ),
  },
  { title: 'Model' },
);

/**
 * GET /v1/models and /v1/models/{id}, as in OpenAI's SDK.
 * @param listed the models that can be asked for, in the order of CONFIG.
 * @param created Unix seconds at which the list was made.
 */
export function modelRoutes(listed: readonly ListedModel[], created: number) {
  const models = listed.map(({ id, task, limits }) => ({
    ...{ id, object: 'model' as const, created, owned_by: 'system' },
    task,
    ...(limits && { limits }),
  }));
  return new Elysia({ name: 'models', tags: ['models'] })
    .get('/v1/models', () => ({ object: 'list' as const, data: models }), {
      response: { 200: t.Object({ object: t.Literal('list'), data: t.Array(Model) }) },
      detail: {
        summary: 'All models',
        description:
          'Ids that requests may name as `model`, in the order of CONFIG. `task` says what each is for.',
      },
    })
    .get(
      '/v1/models/:model',
      ({ params }) => {
        const found = models.find((model) => model.id === params.model);
        if (found !== undefined) return found;
        throw unknownModel(
          listed.map(({ id }) => id),
          'not_found',
        );
      },
      {
        params: t.Object({ model: t.String({ description: 'Id of a model.', example: 'svc-tts' }) }),
        response: { 200: Model, 404: ErrorSchema },
        detail: { summary: 'One model', description: 'Tells whether an id can be used now.' },
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
