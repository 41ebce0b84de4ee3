/** What Swagger shows of /v1/files. */

import {
  CONTENT_HEADERS,
  contentAnswers,
  deleted,
  failure,
  idempotencyKey,
  json,
  pageOf,
  pageQuery,
  pathId,
  plain,
  query,
} from '../../../src/http/openapi/route-docs.ts';
import { FileObject, uploadFormSchema } from './schema.ts';

const ID = 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const FILE_ID = pathId('id', ID);
const NOT_FOUND = failure('There is no such file of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The files cannot be reached now; `retry-after` says when to try again');

/** The `detail` of POST /v1/files. */
export function uploadDocumentation(fileBytes: number) {
  return {
    summary: 'Upload a file',
    description:
      'Stores the input of a batch: requests in JSON, one a line. It is checked when a batch is made of it. The file may come before the other fields.',
    parameters: [idempotencyKey('The same key with the same content gives the same file, for a day.')],
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: plain(uploadFormSchema(fileBytes)) } },
    },
    responses: {
      200: json('The file', FileObject),
      400: failure(
        'A field is missing or not allowed, or the form is broken; `param` names the field. `storage_limit_exceeded`: the files of the organization have too many bytes',
      ),
      409: failure('The Idempotency-Key was sent with another content'),
      413: failure(`The file has more than ${fileBytes} bytes, or the form is too large`),
      415: failure('The body is no multipart form, or it is compressed'),
      429: failure('The organization has too many uploads open; `retry-after` says when to try again'),
      503: failure('There is no room for the file now; `retry-after` says when to try again'),
    },
  };
}

export const LIST = {
  summary: 'List files',
  description: 'Files of your organization: those uploaded and those that batches made.',
  parameters: [
    query('purpose', { type: 'string', enum: ['batch', 'batch_output'] }, 'Only files for this.'),
    ...pageQuery('files', [1, 10_000, 10_000]),
  ],
  responses: {
    200: json('A page of files', pageOf(FileObject, ID)),
    400: failure('A parameter is not allowed; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Read a file’s record',
  description: 'What is known of it; its bytes are its content.',
  parameters: [FILE_ID],
  responses: { 200: json('The file', FileObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a file',
  description: 'With its bytes, at once. One that a batch still reads is kept.',
  parameters: [FILE_ID],
  responses: {
    200: json('It is deleted', deleted('file', ID)),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    409: failure('A batch that has not ended reads the file'),
    503: BUSY,
  },
};

export const CONTENT = {
  summary: 'Download a file',
  description: 'The bytes as they were stored, all or a range of them. HEAD tells their length.',
  parameters: [FILE_ID, ...CONTENT_HEADERS],
  responses: {
    ...contentAnswers('application/octet-stream'),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    503: BUSY,
  },
};
