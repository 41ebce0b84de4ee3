/** What Swagger shows of /v1/files. */

import { Type } from '@sinclair/typebox';
import { failure, plain } from '../../src/http/route-docs.ts';
import { FileObject, uploadFormSchema } from './file-model.ts';

const ID = 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema: plain(schema) } },
});
const NOT_FOUND = failure('There is no such file of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The files cannot be reached now; `retry-after` says when to try again');
const id = {
  name: 'id',
  in: 'path' as const,
  required: true,
  schema: { type: 'string' as const },
  example: ID,
};
const query = (name: string, schema: object, description: string) => ({
  name,
  in: 'query' as const,
  required: false,
  schema,
  description,
});

/** The `detail` of POST /v1/files. */
export function uploadDocumentation(fileBytes: number) {
  return {
    summary: 'Upload a file',
    description:
      'Stores the input of a batch: requests in JSON, one a line. It is checked when a batch is made of it. The file may come before the other fields.',
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header' as const,
        required: false,
        schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
        description: 'The same key with the same content gives the same file, for a day.',
      },
    ],
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
    query('limit', { type: 'integer', minimum: 1, maximum: 10_000, default: 10_000 }, 'Files of one page.'),
    query('order', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }, 'By the time of creation.'),
    query('after', { type: 'string' }, 'Id of the last file of the page before.'),
  ],
  responses: {
    200: json(
      'A page of files',
      Type.Object({
        object: Type.Literal('list'),
        data: Type.Array(FileObject),
        first_id: Type.Union([Type.String(), Type.Null()], { examples: [ID] }),
        last_id: Type.Union([Type.String(), Type.Null()], { examples: [ID] }),
        has_more: Type.Boolean(),
      }),
    ),
    400: failure('A parameter is not allowed; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Read a file’s record',
  parameters: [id],
  responses: { 200: json('The file', FileObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a file',
  parameters: [id],
  responses: {
    200: json(
      'It is deleted',
      Type.Object({
        id: Type.String({ examples: [ID] }),
        object: Type.Literal('file'),
        deleted: Type.Literal(true),
      }),
    ),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    409: failure('A batch that has not ended reads the file'),
    503: BUSY,
  },
};

const bytes = {
  content: { 'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } } },
};

export const CONTENT = {
  summary: 'Download a file',
  description: 'The bytes as they were stored, all or a range of them. HEAD tells their length.',
  parameters: [
    id,
    {
      name: 'Range',
      in: 'header' as const,
      required: false,
      schema: { type: 'string' as const },
      description: 'One range of bytes. Several are answered with all bytes.',
      example: 'bytes=0-1023',
    },
    {
      name: 'If-None-Match',
      in: 'header' as const,
      required: false,
      schema: { type: 'string' as const },
      description: 'Entity tags of what the client has, or `*`. The tag of a file is in `etag`.',
    },
  ],
  responses: {
    200: { description: 'All bytes', ...bytes },
    206: { description: 'The bytes of the range; `content-range` says which', ...bytes },
    304: { description: 'The client has it: `If-None-Match` names its tag' },
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    416: failure('The range begins behind the last byte; `content-range` says how many there are'),
    503: BUSY,
  },
};
