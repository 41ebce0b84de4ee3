import type { Route } from '../../../src/contract/route.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';
import type { StorageHealth } from '../../../src/contract/stores/storage-health.ts';
import {
  idParameter,
  jsonBody,
  jsonResponse,
  pageOf,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { newestFirstQuery } from '../../../src/http/queries.ts';
import { listBody } from '../../../src/http/response/bodies.ts';
import { route } from '../../../src/http/route.ts';
import type { BatchService } from './batch-service.ts';
import { BatchObject, batchObject } from './response.ts';
import { BatchBody, parseBatchParams, WINDOW } from './schema.ts';

export interface BatchServices {
  readonly batches: BatchService;
  readonly store: Pick<BatchStore, 'list'>;
  readonly storage: StorageHealth;
}

const ID = 'batch_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const FILE_ID = 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const BATCH_ID = idParameter('id', ID);
const UNAVAILABLE = 'The database is unavailable';
const FAILURES = { 429: 'Too many requests', 503: UNAVAILABLE };
const NOT_FOUND = 'The batch does not exist or belongs to another organization';

/** Batch routes, compatible with OpenAI's SDK (spec 4.2; openai-wire 3). */
export const BATCH_ROUTES: readonly Route<BatchServices>[] = [
  route({
    method: 'POST',
    path: '/v1/batches',
    tag: 'batch',
    summary: 'Batch',
    description:
      'Runs every line of a file against one endpoint within 24 hours. Upload the file first and replace the id in ' +
      'the example with its id. Poll the batch until its status is ' +
      '`completed`, `failed`, `expired` or `cancelled`, then download its result files.',
    idempotent: 'For one day, a request with the same key returns the batch of the first request.',
    body: {
      json: {
        schema: jsonBody({ ...BatchBody, title: 'Batch request' }),
        examples: {
          embeddings: {
            summary: 'Embedding requests',
            value: { input_file_id: FILE_ID, endpoint: '/v1/embeddings', completion_window: WINDOW },
          },
        },
      },
      read: parseBatchParams,
    },
    responses: {
      200: jsonResponse('The batch, with status `validating`', BatchObject),
      400: WORK_FAILURES[400],
      409: 'The `Idempotency-Key` was already used for a different request',
      415: 'The body is not JSON',
      429: 'The organization has too many unfinished batches',
      503: UNAVAILABLE,
    },
    async handle({ caller, body, idempotencyKey }, { batches, storage }: BatchServices) {
      return batchObject(await batches.create(body, caller, idempotencyKey), storage);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/batches',
    tag: 'batch',
    summary: 'List the batches of your organization, newest first',
    description: 'Includes finished batches. Pass `last_id` as `after` to get the next page.',
    query: newestFirstQuery(
      { minimum: 1, maximum: 100, fallback: 20 },
      { limit: 'Batches per page.', after: 'Id of the last batch of the previous page.' },
    ),
    responses: {
      200: jsonResponse('A page of batches', pageOf(BatchObject, ID)),
      400: WORK_FAILURES[400],
      ...FAILURES,
    },
    async handle({ caller: { organization }, query: { limit, after } }, { store, storage }: BatchServices) {
      const page = await store.list({ organization, limit, after });
      return listBody(
        page.batches.map((batch) => batchObject(batch, storage)),
        page.hasMore,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/v1/batches/:id',
    tag: 'batch',
    summary: 'Retrieve a batch',
    description: 'Returns all fields; values that do not exist yet are null.',
    pathParameters: [BATCH_ID],
    responses: {
      200: jsonResponse('The batch', BatchObject),
      400: WORK_FAILURES[400],
      404: NOT_FOUND,
      ...FAILURES,
    },
    async handle({ caller, params: { id } }, { batches, storage }: BatchServices) {
      return batchObject(await batches.get(caller.organization, id), storage);
    },
  }),
  route({
    method: 'POST',
    path: '/v1/batches/:id/cancel',
    tag: 'batch',
    summary: 'Cancel a batch',
    description:
      'Results of finished lines stay in the output file; all other lines are listed in the error file with the code ' +
      '`batch_cancelled`.',
    pathParameters: [BATCH_ID],
    responses: {
      200: jsonResponse('The batch, with status `cancelling`', BatchObject),
      400: 'The body is not valid JSON',
      404: NOT_FOUND,
      409: 'The batch is `finalizing` or finished',
      413: 'Request body too large',
      415: 'The body has another content type',
      ...FAILURES,
    },
    async handle({ caller, params: { id } }, { batches, storage }: BatchServices) {
      return batchObject(await batches.cancel(caller.organization, id), storage);
    },
  }),
];
