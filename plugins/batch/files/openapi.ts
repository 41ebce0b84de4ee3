/** OpenAPI documentation of /v1/files. */

import {
  CONTENT_HEADERS,
  contentResponses,
  deletionSchema,
  errorResponse,
  idempotencyKey,
  idParameter,
  jsonResponse,
  pageOf,
  pageQuery,
  queryParameter,
  toPlainSchema,
} from '../../../src/http/openapi/route-docs.ts';
import { FileObject, uploadFormSchema } from './schema.ts';

const ID = 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const FILE_ID = idParameter('id', ID);
const NOT_FOUND = errorResponse('The file does not exist or belongs to another organization');
const BAD_PATH = errorResponse('The path is not percent-encoded UTF-8');
const BUSY = errorResponse('The file storage is unavailable; retry after `retry-after` seconds');

/** The `detail` of POST /v1/files. */
export function uploadDocumentation(fileBytes: number) {
  return {
    summary: 'Upload a file',
    description:
      'Stores the input of a batch: JSONL, one request per line. The content is validated when a batch is created from it. The file may precede the other fields.',
    parameters: [
      idempotencyKey('For one day, a request with the same key and content returns the same file.'),
    ],
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: toPlainSchema(uploadFormSchema(fileBytes)) } },
    },
    responses: {
      200: jsonResponse('The file', FileObject),
      400: errorResponse(
        'A field is missing or invalid, or the form is malformed; `param` names the field. `storage_limit_exceeded`: the storage quota of the organization is exceeded',
      ),
      409: errorResponse('The Idempotency-Key was already used for other content'),
      413: errorResponse(`The file is larger than ${fileBytes} bytes, or the form is too large`),
      415: errorResponse('The body is not a multipart form, or it is compressed'),
      429: errorResponse('The organization has too many open uploads; retry after `retry-after` seconds'),
      503: errorResponse('The file storage is full or unavailable; retry after `retry-after` seconds'),
    },
  };
}

export const LIST = {
  summary: 'List files',
  description: 'Files of your organization: uploaded files and results of batches.',
  parameters: [
    queryParameter(
      'purpose',
      { type: 'string', enum: ['batch', 'batch_output'] },
      'Only files with this purpose.',
    ),
    ...pageQuery('files', { minimum: 1, maximum: 10_000, fallback: 10_000 }),
  ],
  responses: {
    200: jsonResponse('A page of files', pageOf(FileObject, ID)),
    400: errorResponse('A parameter is invalid; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Retrieve a file',
  description: 'Returns the metadata of the file. Its bytes are at `/v1/files/{id}/content`.',
  parameters: [FILE_ID],
  responses: { 200: jsonResponse('The file', FileObject), 400: BAD_PATH, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a file',
  description:
    'Deletes the file and its bytes immediately. A file that an unfinished batch reads is not deleted.',
  parameters: [FILE_ID],
  responses: {
    200: jsonResponse('The file is deleted', deletionSchema('file', ID)),
    400: BAD_PATH,
    404: NOT_FOUND,
    409: errorResponse('An unfinished batch reads the file'),
    503: BUSY,
  },
};

export const CONTENT = {
  summary: 'Download a file',
  description: 'Returns the stored bytes or a range of them. HEAD returns their length.',
  parameters: [FILE_ID, ...CONTENT_HEADERS],
  responses: {
    ...contentResponses('application/octet-stream'),
    400: BAD_PATH,
    404: NOT_FOUND,
    503: BUSY,
  },
};
