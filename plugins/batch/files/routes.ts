import { Elysia } from 'elysia';
import type { ByteRange } from '../../../src/contract/stores/blob-store.ts';
import { idempotencyKeyOf } from '../../../src/http/request/idempotency-key.ts';
import { maxFormBytes, readForm } from '../../../src/http/request/multipart.ts';
import { attachment } from '../../../src/http/response/attachment.ts';
import { contentResponse } from '../../../src/http/response/content-response.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../../src/http/server/route-table.ts';
import type { FileService } from './file-service.ts';
import { fileListJson } from './list-response.ts';
import * as docs from './openapi.ts';
import { parseFileQuery, parseUpload, toFileObject } from './schema.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * File routes, compatible with OpenAI's SDK (spec 4.1, openai-wire 2).
 * @param fileBytes maximum size of a file, in bytes.
 */
export function fileRoutes(files: FileService, fileBytes: number) {
  const uploadDetail = {
    ...docs.uploadDocumentation(fileBytes),
    [UPLOAD_BYTES]: maxFormBytes(fileBytes),
  };
  return new Elysia({ name: 'files', tags: ['files'] })
    .post(
      '/v1/files',
      async ({ request }) => {
        const key = idempotencyKeyOf(request);
        const upload = files.upload(callerOf(request), request.signal);
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
      { detail: uploadDetail },
    )
    .get(
      '/v1/files',
      async ({ request }) => {
        const page = await files.list(callerOf(request), parseFileQuery(request));
        return new Response(await fileListJson(page), { headers: { 'content-type': 'application/json' } });
      },
      { detail: docs.LIST },
    )
    .get(
      '/v1/files/:id',
      async ({ params, request }) => {
        return toFileObject(await files.get(callerOf(request), params.id));
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/files/:id',
      async ({ params: { id }, request }) => {
        await files.delete(callerOf(request), id);
        return { id, object: 'file', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .get('/v1/files/:id/content', ({ params, request, set }) => content(params.id, request, set.headers), {
      detail: docs.CONTENT,
    });

  /** @param errorHeaders headers that are added to an error response. */
  async function content(id: string, request: Request, errorHeaders: Record<string, string | number>) {
    const file = await files.get(callerOf(request), id);
    const { lengthBytes, sha256, filename } = file;
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': attachment(filename),
    };
    const read = (signal: AbortSignal, range?: ByteRange) => files.read(file, signal, range);
    const stored = { noun: 'file', lengthBytes, etag: `"${sha256}"`, headers, read };
    return contentResponse(stored, request, errorHeaders);
  }
}
