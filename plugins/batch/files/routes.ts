import { Elysia } from 'elysia';
import type { ByteRange } from '../../../src/contract/stores/blob-store.ts';
import { idempotencyKeyOf } from '../../../src/http/request/idempotency-key.ts';
import { largestForm, readForm } from '../../../src/http/request/multipart.ts';
import { readQuery } from '../../../src/http/request/query.ts';
import { attachment } from '../../../src/http/response/attachment.ts';
import { contentAnswer } from '../../../src/http/response/blob-response.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../../src/http/server/route-table.ts';
import type { Files } from './file-service.ts';
import { fileList } from './list-response.ts';
import * as docs from './openapi.ts';
import { fileObject, parseFileQuery, parseUpload } from './schema.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * Files, as in OpenAI's SDK (spec 4.1, openai-wire 2).
 * @param fileBytes largest file, in bytes.
 */
export function fileRoutes(files: Files, fileBytes: number) {
  const uploadDetail = {
    ...docs.uploadDocumentation(fileBytes),
    [UPLOAD_BYTES]: largestForm(fileBytes),
  };
  return new Elysia({ name: 'files', tags: ['files'] })
    .post(
      '/v1/files',
      async ({ request }) => {
        const key = idempotencyKeyOf(request);
        const upload = files.upload(callerOf(request), request.signal);
        try {
          // One that may be sent again is looked up first: it may get a file that is there.
          if (key === undefined) await upload.requireRoom();
          const form = await readForm<StoredFile>(
            request,
            { fileBytes, take: (file, signal) => upload.take(file, signal) },
            upload.signal,
          );
          return fileObject(await upload.finish(parseUpload(form), key));
        } finally {
          await upload.end();
        }
      },
      { detail: uploadDetail },
    )
    .get(
      '/v1/files',
      async ({ request }) => {
        const page = await files.list(callerOf(request), parseFileQuery(request));
        return new Response(await fileList(page), { headers: { 'content-type': 'application/json' } });
      },
      { detail: docs.LIST },
    )
    .get(
      '/v1/files/:id',
      async ({ params, request }) => {
        readQuery(request, []);
        return fileObject(await files.get(callerOf(request), params.id));
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/files/:id',
      async ({ params: { id }, request }) => {
        readQuery(request, []);
        await files.delete(callerOf(request), id);
        return { id, object: 'file', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .get('/v1/files/:id/content', ({ params, request, set }) => content(params.id, request, set.headers), {
      detail: docs.CONTENT,
    });

  /** @param refusal headers that a refusal will have. */
  async function content(id: string, request: Request, refusal: Record<string, string | number>) {
    readQuery(request, []);
    const file = await files.get(callerOf(request), id);
    const { lengthBytes, sha256, filename } = file;
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': attachment(filename),
    };
    const read = (signal: AbortSignal, range?: ByteRange) => files.read(file, signal, range);
    const stored = { noun: 'file', lengthBytes, etag: `"${sha256}"`, headers, read };
    return contentAnswer(stored, request, refusal);
  }
}
