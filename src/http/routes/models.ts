import { Type } from '@sinclair/typebox';
import type { LoadReport, ReadyReport } from '../../contract/engines/engine.ts';
import { type ModelEngine, type ModelFiles, unknownModel } from '../../contract/model-table.ts';
import type { ModelLimits } from '../../contract/plugin.ts';
import type { Route } from '../../contract/route.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { checkedResponse } from '../openapi/operation.ts';
import { ANY_ERROR, pathParameter } from '../openapi/route-docs.ts';
import { UnixSeconds } from '../openapi/schemas.ts';
import { route } from '../route.ts';
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
const Load = Type.Object(
  {
    state: oneOf(LOAD_STATES, {
      description: '`failed`: the download or the load is tried again by the next request, or after 30 s.',
    }),
    percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, examples: [42] })),
    downloaded_bytes: Type.Optional(Type.Integer()),
    total_bytes: Type.Optional(Type.Integer()),
  },
  {
    description:
      'Only of models that are downloaded or loaded while the service runs. Requests get 503 `model_loading` until then.',
  },
);

const Engine = Type.Object(
  {
    kind: Type.String({
      description: '`kind` of the model in CONFIG.',
      examples: ['kokoro', 'whisper', 'upstream'],
    }),
    weights: Type.Optional(
      Type.String({
        description: 'Absent if there is only one choice, and for own files.',
        examples: ['base'],
      }),
    ),
    compatibility: Type.Optional(
      oneOf(['openai'], {
        description:
          "Requests follow OpenAI's API: all its formats, and mp3 by default. Absent: wav and pcm.",
      }),
    ),
    languages: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Only of speech models: ids of the models that speak a language instead, by BCP 47 tag.',
        examples: [{ de: 'piper-de' }],
      }),
    ),
  },
  { description: 'What is behind the id.' },
);

const Files = Type.Object(
  {
    size_bytes: Type.Optional(Type.Integer({ examples: [98_362_432] })),
    licence: Type.Optional(Type.String({ description: 'SPDX expression.', examples: ['Apache-2.0'] })),
    memory_bytes: Type.Optional(
      Type.Integer({ description: 'Only of language models: loaded weights and key-value cache.' }),
    ),
  },
  {
    description:
      'The model files on this machine, as known at the start of the service. Absent for models of other servers.',
  },
);

const Model = Type.Object(
  {
    id: Type.String({ examples: ['svc-tts'] }),
    object: Type.Literal('model'),
    created: UnixSeconds,
    owned_by: Type.String({ examples: ['system'] }),
    task: oneOf(MODEL_TASKS, { description: 'What the model is used for.' }),
    ready: Type.Optional(
      Type.Boolean({
        description:
          'Whether the model can be used now. A model that is loaded by its first request is ready unless the last download or load failed.',
      }),
    ),
    load: Type.Optional(Load),
    engine: Type.Optional(Engine),
    files: Type.Optional(Files),
    languages: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'BCP 47 tags of the languages that a speech model speaks. Absent if only an upstream server knows them.',
        examples: [['en-US', 'es']],
      }),
    ),
    limits: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ minimum: Type.Optional(Type.Number()), maximum: Type.Optional(Type.Number()) }),
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

const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });
const SpeechModelList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Model),
  models: Type.Array(Type.Object({ id: Type.String({ examples: ['tts-1'] }), name: Type.String() }), {
    description: 'The same models, for clients of other speech servers, such as Open WebUI.',
  }),
});

const MODEL_ID = pathParameter('model', 'Id of a model.', 'svc-tts');

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
): readonly Route[] {
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
  return [
    route({
      method: 'GET',
      path: '/v1/models',
      summary: 'List models',
      description:
        'Lists the models that requests can use, in the order of CONFIG. `task` is what a model is used for.',
      tag: 'models',
      responses: { 200: checkedResponse(ModelList) },
      handle: () => ({ object: 'list', data: models() }),
    }),
    route({
      method: 'GET',
      path: '/v1/audio/models',
      summary: 'List speech models',
      description: 'Lists the models of /v1/models that `POST /v1/audio/speech` can use.',
      tag: 'models',
      responses: { 200: checkedResponse(SpeechModelList) },
      handle() {
        const speech = models().filter(({ task }) => task === 'speech');
        return { object: 'list', data: speech, models: speech.map(({ id }) => ({ id, name: id })) };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/models/:model',
      summary: 'Retrieve a model',
      description: 'Returns a model if requests can use its id.',
      tag: 'models',
      pathParameters: [MODEL_ID],
      responses: { 200: checkedResponse(Model), 404: ANY_ERROR },
      handle: ({ params }) => find(params.model),
    }),
    route({
      method: 'POST',
      path: '/v1/models/:model/load',
      summary: 'Load a model',
      description:
        'Starts the download and the load of a model that its first request would load otherwise, or retries them after ' +
        'a failure, and returns the model with its state; `load` has the progress. No effect on a model that is loaded. ' +
        'Applies to the process that handles the request. Requires an operator key.',
      tag: 'models',
      pathParameters: [MODEL_ID],
      responses: { 200: checkedResponse(Model), 403: ANY_ERROR, 404: ANY_ERROR },
      handle({ request, params }) {
        requireOperator(request);
        const { id } = find(params.model);
        startLoad(id);
        return find(id);
      },
    }),
  ];
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
