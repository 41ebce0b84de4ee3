import type { Route } from '../../../src/contract/route.ts';
import type { ByteRange } from '../../../src/contract/stores/blob-store.ts';
import { jsonResponse, pageQuery, queryParameter } from '../../../src/http/openapi/route-docs.ts';
import { maxFormBytes, readForm } from '../../../src/http/request/multipart.ts';
import { attachment } from '../../../src/http/response/attachment.ts';
import { deletedBody } from '../../../src/http/response/bodies.ts';
import { contentResponse } from '../../../src/http/response/content-response.ts';
import { type RouteQuery, route } from '../../../src/http/route.ts';
import { storedObject } from '../../../src/http/stored-object.ts';
import type { FileService } from './file-service.ts';
import { fileListJson } from './list-response.ts';
import {
  FileObject,
  type FileQuery,
  LIMIT,
  PURPOSES,
  parseFileQuery,
  parseUpload,
  toFileObject,
  uploadFormSchema,
} from './schema.ts';
import type { StoredFile } from './stored-file.ts';

export interface FileServices {
  readonly files: FileService;
}

const FILE = storedObject({
  noun: 'file',
  tag: 'files',
  path: '/v1/files',
  id: 'id',
  example: 'file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f',
  schema: FileObject,
  deleted: 'file',
});

const LIST_QUERY: RouteQuery<FileQuery> = {
  parameters: [
    queryParameter('purpose', { type: 'string', enum: PURPOSES }, 'Only files with this purpose.'),
    ...pageQuery('files', LIMIT),
  ],
  read: parseFileQuery,
};

/**
 * File routes, compatible with OpenAI's SDK (spec 4.1, openai-wire 2).
 * @param fileBytes maximum size of a file, in bytes.
 */
export function fileRoutes(fileBytes: number): readonly Route<FileServices>[] {
  return [
    route({
      method: 'POST',
      path: FILE.list.path,
      tag: 'files',
      summary: 'Upload a file',
      description:
        'Stores the input of a batch: JSONL, one request per line. The content is validated when a batch is created from it. The file may precede the other fields.',
      idempotent: 'For one day, a request with the same key and content returns the same file.',
      upload: { maxBytes: maxFormBytes(fileBytes) },
      body: { form: uploadFormSchema(fileBytes) },
      responses: {
        200: jsonResponse('The file', FileObject),
        400: 'A field is missing or invalid, or the form is malformed; `param` names the field. `storage_limit_exceeded`: the storage quota of the organization is exceeded',
        409: 'The Idempotency-Key was already used for other content',
        413: `The file is larger than ${fileBytes} bytes, or the form is too large`,
        415: 'The body is not a multipart form, or it is compressed',
        429: 'The organization has too many open uploads; retry after `retry-after` seconds',
        503: 'The file storage is full or unavailable; retry after `retry-after` seconds',
      },
      async handle({ caller, request, idempotencyKey: key }, { files }: FileServices) {
        const upload = files.upload(caller, request.signal);
        try {
          // With an idempotency key the file may exist already, which needs no quota: the key is checked first.
          if (key === undefined) await upload.requireStorageQuota();
          const form = await readForm<StoredFile>(
            request,
            { fileBytes, receiveFile: (file, signal) => upload.storeFile(file, signal) },
            upload.signal,
          );
          return toFileObject(await upload.finish(parseUpload(form), key));
        } finally {
          await upload.release();
        }
      },
    }),
    route({
      ...FILE.list,
      description: 'Files of your organization: uploaded files and results of batches.',
      query: LIST_QUERY,
      async handle({ caller, query }, { files }: FileServices) {
        const page = await files.list(caller, query);
        return new Response(await fileListJson(page), { headers: { 'content-type': 'application/json' } });
      },
    }),
    route({
      ...FILE.retrieve,
      description: 'Returns the metadata of the file. Its bytes are at `/v1/files/{id}/content`.',
      handle: async ({ caller, params }, { files }: FileServices) =>
        toFileObject(await files.get(caller, params.id)),
    }),
    route({
      ...FILE.remove,
      description:
        'Deletes the file and its bytes immediately. A file that an unfinished batch reads is not deleted.',
      responses: { ...FILE.remove.responses, 409: 'An unfinished batch reads the file' },
      async handle({ caller, params: { id } }, { files }: FileServices) {
        await files.delete(caller, id);
        return deletedBody('file', id);
      },
    }),
    route({
      ...FILE.download('application/octet-stream'),
      path: '/v1/files/:id/content',
      description: 'Returns the stored bytes or a range of them. HEAD returns their length.',
      async handle({ caller, params: { id }, request, set }, { files }: FileServices) {
        const file = await files.get(caller, id);
        const { lengthBytes, sha256, filename } = file;
        const headers = {
          'content-type': 'application/octet-stream',
          'content-disposition': attachment(filename),
        };
        const read = (signal: AbortSignal, range?: ByteRange) => files.read(file, signal, range);
        const stored = { noun: 'file', lengthBytes, etag: `"${sha256}"`, headers, read };
        return contentResponse(stored, request, set.headers);
      },
    }),
  ];
}
