/** OpenAPI documentation of /v1/batches. */

import { Type } from '@sinclair/typebox';
import { OPERATION_URLS } from '../../../src/contract/engines/operation.ts';
import { BATCH_STATUSES } from '../../../src/contract/stores/batch-store.ts';
import {
  errorResponse,
  idempotencyKey,
  idParameter,
  jsonBody,
  jsonResponse,
  pageOf,
  queryParameter,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { orNull, UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { BatchBody, WINDOW } from './schema.ts';

const ID = 'batch_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const FILE_ID = 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';

const Count = Type.Integer({ minimum: 0 });
const Time = orNull(UnixSeconds);

const BatchError = Type.Object({
  code: Type.String({ examples: ['duplicate_custom_id'] }),
  message: Type.String(),
  param: orNull(Type.String({ examples: ['custom_id'] })),
  line: orNull(Type.Integer({ minimum: 1 })),
});

const BatchSchema = Type.Object(
  {
    id: Type.String({ examples: [ID] }),
    object: Type.Literal('batch'),
    endpoint: oneOf(OPERATION_URLS),
    model: orNull(Type.String({ description: 'The model, if all lines name the same one.' })),
    errors: orNull(Type.Object({ object: Type.Literal('list'), data: Type.Array(BatchError) })),
    input_file_id: Type.String(),
    completion_window: Type.Literal(WINDOW),
    status: oneOf(BATCH_STATUSES),
    output_file_id: orNull(Type.String({ description: 'Results; null if no line succeeded.' })),
    error_file_id: orNull(Type.String({ description: 'Errors; null if no line failed.' })),
    created_at: UnixSeconds,
    in_progress_at: Time,
    expires_at: Time,
    finalizing_at: Time,
    completed_at: Time,
    failed_at: Time,
    expired_at: Time,
    cancelling_at: Time,
    cancelled_at: Time,
    request_counts: Type.Object({ total: Count, completed: Count, failed: Count }),
    usage: orNull(
      Type.Object({
        input_tokens: Count,
        input_tokens_details: Type.Object({ cached_tokens: Count }),
        output_tokens: Count,
        output_tokens_details: Type.Object({ reasoning_tokens: Count }),
        total_tokens: Count,
      }),
    ),
    metadata: orNull(Type.Record(Type.String(), Type.String())),
    status_detail: Type.Optional(
      Type.String({
        description: 'Why an unfinished batch makes no progress. Present only while the storage is full.',
      }),
    ),
  },
  { title: 'Batch' },
);

const UNAVAILABLE = errorResponse('The database is unavailable');
const FAILURES = { 401: WORK_FAILURES[401], 429: errorResponse('Too many requests'), 503: UNAVAILABLE };
const NOT_FOUND = errorResponse('The batch does not exist or belongs to another organization');

const BATCH_ID = idParameter('id', ID);

export const CREATE = {
  summary: 'Batch',
  description:
    'Runs every line of a file against one endpoint within 24 hours. Upload the file first and replace the id in ' +
    'the example with its id. Poll the batch until its status is ' +
    '`completed`, `failed`, `expired` or `cancelled`, then download its result files.',
  parameters: [
    idempotencyKey('For one day, a request with the same key returns the batch of the first request.'),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: jsonBody({ ...BatchBody, title: 'Batch request' }),
        examples: {
          embeddings: {
            summary: 'Embedding requests',
            value: { input_file_id: FILE_ID, endpoint: '/v1/embeddings', completion_window: WINDOW },
          },
        },
      },
    },
  },
  responses: {
    200: jsonResponse('The batch, with status `validating`', BatchSchema),
    400: WORK_FAILURES[400],
    401: WORK_FAILURES[401],
    409: errorResponse('The `Idempotency-Key` was already used for a different request'),
    413: WORK_FAILURES[413],
    415: errorResponse('The body is not JSON'),
    429: errorResponse('The organization has too many unfinished batches'),
    503: UNAVAILABLE,
  },
};

export const RETRIEVE = {
  summary: 'Retrieve a batch',
  description: 'Returns all fields; values that do not exist yet are null.',
  parameters: [BATCH_ID],
  responses: {
    200: jsonResponse('The batch', BatchSchema),
    400: WORK_FAILURES[400],
    404: NOT_FOUND,
    ...FAILURES,
  },
};

export const CANCEL = {
  summary: 'Cancel a batch',
  description:
    'Results of finished lines stay in the output file; all other lines are listed in the error file with the code ' +
    '`batch_cancelled`.',
  parameters: [BATCH_ID],
  responses: {
    200: jsonResponse('The batch, with status `cancelling`', BatchSchema),
    400: errorResponse('The body is not valid JSON'),
    404: NOT_FOUND,
    409: errorResponse('The batch is `finalizing` or finished'),
    413: WORK_FAILURES[413],
    415: errorResponse('The body has another content type'),
    ...FAILURES,
  },
};

export const LIST = {
  summary: 'List the batches of your organization, newest first',
  description: 'Includes finished batches. Pass `last_id` as `after` to get the next page.',
  parameters: [
    queryParameter('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'Batches per page.'),
    queryParameter('after', { type: 'string' }, 'Id of the last batch of the previous page.'),
  ],
  responses: {
    200: jsonResponse('A page of batches', pageOf(BatchSchema, ID)),
    400: WORK_FAILURES[400],
    ...FAILURES,
  },
};
