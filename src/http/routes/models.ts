import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import type { LoadReport, ReadyReport } from '../../contract/engines/engine.ts';
import { type ModelEngine, type ModelFiles, unknownModel } from '../../contract/model-table.ts';
import type { ModelLimits } from '../../contract/plugin.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { ErrorSchema, UnixSeconds } from '../openapi/schemas.ts';
import { requireOperator } from '../security/caller.ts';

/** Tasks of models; each model has one. */
export const MODEL_TASKS = [
  'speech',
  'transcription',
  'chat',
  'embeddings',
  'video',
  'conversation',
] as const;
export type ModelTask = (typeof MODEL_TASKS)[number];

/** A model of `GET /v1/models`. */
export interface ListedModel {
  readonly id: string;
  readonly task: ModelTask;
  readonly limits?: ModelLimits | undefined;
  /** BCP 47 tags. Only of speech models; absent if only an upstream server knows them. */
  readonly languages?: readonly string[] | undefined;
  readonly engine?: ModelEngine | undefined;
  /** Absent for models of other servers. */
  readonly files?: ModelFiles | undefined;
}

const LOAD_STATES = ['not_loaded', 'downloading', 'loading', 'loaded', 'failed'] as const;
const Load = t.Object(
  {
    state: oneOf(LOAD_STATES, {
      description: '`failed`: the download or the load is tried again by the next request, or after 30 s.',
    }),
    percent: t.Optional(Type.Integer({ minimum: 0, maximum: 100, examples: [42] })),
    downloaded_bytes: t.Optional(Type.Integer()),
    total_bytes: t.Optional(Type.Integer()),
  },
  {
    description:
      'Only of models that are downloaded or loaded while the service runs. Requests get 503 `model_loading` until then.',
  },
);

const Engine = t.Object(
  {
    kind: t.String({
      description: '`kind` of the model in CONFIG.',
      examples: ['kokoro', 'whisper', 'upstream'],
    }),
    weights: t.Optional(
      t.String({ description: 'Absent if there is only one choice, and for own files.', examples: ['base'] }),
    ),
    compatibility: t.Optional(
      oneOf(['openai'], {
        description:
          "Requests follow OpenAI's API: all its formats, and mp3 by default. Absent: wav and pcm.",
      }),
    ),
    languages: t.Optional(
      t.Record(t.String(), t.String(), {
        description: 'Only of speech models: ids of the models that speak a language instead, by BCP 47 tag.',
        examples: [{ de: 'piper-de' }],
      }),
    ),
  },
  { description: 'What is behind the id.' },
);

const Files = t.Object(
  {
    size_bytes: t.Optional(Type.Integer({ examples: [98_362_432] })),
    licence: t.Optional(t.String({ description: 'SPDX expression.', examples: ['Apache-2.0'] })),
    memory_bytes: t.Optional(
      Type.Integer({ description: 'Only of language models: loaded weights and key-value cache.' }),
    ),
  },
  {
    description:
      'The model files on this machine, as known at the start of the service. Absent for models of other servers.',
  },
);

const Model = t.Object(
  {
    id: t.String({ examples: ['svc-tts'] }),
    object: t.Literal('model'),
    created: UnixSeconds,
    owned_by: t.String({ examples: ['system'] }),
    task: oneOf(MODEL_TASKS, { description: 'What the model is used for.' }),
    ready: t.Optional(
      t.Boolean({
        description:
          'Whether the model can be used now. A model that is loaded by its first request is ready unless the last download or load failed.',
      }),
    ),
    load: t.Optional(Load),
    engine: t.Optional(Engine),
    files: t.Optional(Files),
    languages: t.Optional(
      t.Array(t.String(), {
        description:
          'BCP 47 tags of the languages that a speech model speaks. Absent if only an upstream server knows them.',
        examples: [['en-US', 'es']],
      }),
    ),
    limits: t.Optional(
      t.Record(
        t.String(),
        t.Object({ minimum: t.Optional(Type.Number()), maximum: t.Optional(Type.Number()) }),
        {
          description:
            'Input limits that differ between models of the same task. Video models: `seconds` of the new segment; `clip_seconds`, `clip_sides` and `clip_short_side` (pixels) and `clip_bytes` of the input clip.',
          examples: [{ seconds: { minimum: 4, maximum: 15 }, clip_seconds: { minimum: 2, maximum: 15 } }],
        },
      ),
    ),
  },
  { title: 'Model' },
);

const ModelParams = t.Object({ model: t.String({ description: 'Id of a model.', example: 'svc-tts' }) });

/** The running models. */
export interface ModelStates {
  /** Returns the current state of the models by id; called for each request. */
  reports(): ReadonlyMap<string, ReadyReport>;
  /** Starts the load of a model that is not loaded. */
  load(id: string): void;
}

/**
 * GET /v1/models, /v1/models/{id} and /v1/audio/models, compatible with OpenAI's SDK, and POST /v1/models/{id}/load.
 * @param listed the available models, in the order of CONFIG.
 * @param created Unix time in seconds at which the list was created.
 */
export function modelRoutes(
  listed: readonly ListedModel[],
  created: number,
  { reports, load: startLoad }: ModelStates,
) {
  const models = () => {
    const states = reports();
    return listed.map(({ id, task, limits, engine, files, languages }) => {
      const { ready, load } = states.get(id) ?? {};
      return {
        id,
        object: 'model' as const,
        created,
        owned_by: 'system',
        task,
        ...(ready !== undefined && { ready }),
        ...(load && { load: loadBody(load) }),
        ...(engine && { engine: { ...engine } }),
        ...(files && { files: filesBody(files) }),
        ...(languages && { languages: [...languages] }),
        ...(limits && { limits }),
      };
    });
  };
  const find = (id: string) => {
    const found = models().find((model) => model.id === id);
    if (found !== undefined) return found;
    throw unknownModel(
      id,
      listed.map((model) => model.id),
      'not_found',
    );
  };
  return new Elysia({ name: 'models', tags: ['models'] })
    .get('/v1/models', () => ({ object: 'list' as const, data: models() }), {
      response: { 200: t.Object({ object: t.Literal('list'), data: t.Array(Model) }) },
      detail: {
        summary: 'List models',
        description:
          'Lists the models that requests can use, in the order of CONFIG. `task` is what a model is used for.',
      },
    })
    .get(
      '/v1/audio/models',
      () => {
        const speech = models().filter(({ task }) => task === 'speech');
        return { object: 'list' as const, data: speech, models: speech.map(({ id }) => ({ id, name: id })) };
      },
      {
        response: {
          200: t.Object({
            object: t.Literal('list'),
            data: t.Array(Model),
            models: t.Array(t.Object({ id: t.String({ examples: ['tts-1'] }), name: t.String() }), {
              description: 'The same models, for clients of other speech servers, such as Open WebUI.',
            }),
          }),
        },
        detail: {
          summary: 'List speech models',
          description: 'Lists the models of /v1/models that `POST /v1/audio/speech` can use.',
        },
      },
    )
    .get('/v1/models/:model', ({ params }) => find(params.model), {
      params: ModelParams,
      response: { 200: Model, 404: ErrorSchema },
      detail: { summary: 'Retrieve a model', description: 'Returns a model if requests can use its id.' },
    })
    .post(
      '/v1/models/:model/load',
      ({ request, params }) => {
        requireOperator(request);
        const { id } = find(params.model);
        startLoad(id);
        return find(id);
      },
      {
        params: ModelParams,
        response: { 200: Model, 403: ErrorSchema, 404: ErrorSchema },
        detail: {
          summary: 'Load a model',
          description:
            'Starts the download and the load of a model that its first request would load otherwise, or retries them after ' +
            'a failure, and returns the model with its state; `load` has the progress. No effect on a model that is loaded. ' +
            'Applies to the process that handles the request. Requires an operator key.',
        },
      },
    );
}

function loadBody({ state, percent, doneBytes, totalBytes }: LoadReport) {
  return {
    state,
    ...(percent !== undefined && { percent }),
    ...(doneBytes !== undefined && { downloaded_bytes: doneBytes }),
    ...(totalBytes !== undefined && { total_bytes: totalBytes }),
  };
}

function filesBody({ sizeBytes, licence, memoryBytes }: ModelFiles) {
  return {
    ...(sizeBytes !== undefined && { size_bytes: sizeBytes }),
    ...(licence !== undefined && { licence }),
    ...(memoryBytes !== undefined && { memory_bytes: memoryBytes }),
  };
}
