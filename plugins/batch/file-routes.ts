import { Elysia } from 'elysia';
import { ServiceError } from '../../src/contract/error.ts';
import type { FileRecord } from '../../src/contract/file-store.ts';
import { attachment } from '../../src/http/attachment.ts';
import { byteRangeOf } from '../../src/http/byte-range.ts';
import { callerOf } from '../../src/http/caller.ts';
import { isKnownTo } from '../../src/http/entity-tag.ts';
import { headAnswer } from '../../src/http/head-answer.ts';
import { idempotencyKeyOf } from '../../src/http/idempotency-key.ts';
import { largestForm, readForm } from '../../src/http/multipart.ts';
import { readQuery } from '../../src/http/query.ts';
import { UPLOAD_BYTES } from '../../src/http/route-table.ts';
import { idleTimeoutOf, streamedBody } from '../../src/http/streamed-body.ts';
import { startingWith } from '../../src/kit/starting-with.ts';
import * as docs from './file-docs.ts';
import { fileList } from './file-list.ts';
import { fileObject, parseFileQuery, parseUpload } from './file-model.ts';
import type { Files } from './files.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * Content up to this is sent whole. The runtime sends a stream in pieces and leaves its `content-length` out
 * (oven-sh/bun#10507); HEAD and `content-range` tell it for longer ones.
 */
const WHOLE_BYTES = 1024 * 1024;

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
    const etag = etagOf(file);
    // Before a range is looked at (RFC 9110, 13.2.2).
    if (isKnownTo(request.headers.get('if-none-match'), etag)) {
      return new Response(null, { status: 304, headers: { etag } });
    }
    const range = rangeOf(request, file);
    if (range === 'none') {
      refusal['content-range'] = `bytes */${file.lengthBytes}`;
      throw new ServiceError(
        'range_not_satisfiable',
        `'Range' must begin within the ${file.lengthBytes} bytes of the file.`,
        { param: 'Range' },
      );
    }
    const { start, end } = range ?? { start: 0, end: file.lengthBytes };
    const answer = {
      status: range === undefined ? 200 : 206,
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(end - start),
        'content-disposition': attachment(file.filename),
        'accept-ranges': 'bytes',
        etag,
        ...(range && { 'content-range': `bytes ${start}-${end - 1}/${file.lengthBytes}` }),
      },
    };
    if (request.method === 'HEAD') return headAnswer(end - start, answer);
    const left = new AbortController();
    const signal = AbortSignal.any([request.signal, left.signal]);
    const bytes = await files.read(file, signal, range);
    if (end - start <= WHOLE_BYTES) {
      return new Response(Buffer.concat(await Array.fromAsync(bytes)), answer);
    }
    // What fails before the first byte can still be told by a status.
    const first = await bytes.next();
    const chunks = first.done ? bytes : startingWith(first.value, bytes);
    return new Response(streamedBody(chunks, left, idleTimeoutOf(request)), answer);
  }
}

/** The range that a request asks for; all when it asks for one of what it takes for another file (RFC 9110, 13.1.5). */
function rangeOf(request: Request, file: FileRecord) {
  const onlyIf = request.headers.get('if-range');
  if (onlyIf !== null && onlyIf !== etagOf(file)) return undefined;
  return byteRangeOf(request.headers.get('range'), file.lengthBytes);
}

function etagOf(file: FileRecord): string {
  return `"${file.sha256}"`;
}
