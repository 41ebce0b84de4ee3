import { Elysia } from 'elysia';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { FINAL_VIDEO_STATUSES, type VideoRecord } from '../../src/contract/stores/video-store.ts';
import { mediaTypeOf, readBody } from '../../src/http/request/body.ts';
import { idempotencyKeyOf } from '../../src/http/request/idempotency-key.ts';
import { type IncomingFile, maxFormBytes, readForm } from '../../src/http/request/multipart.ts';
import { readQuery } from '../../src/http/request/query.ts';
import { attachment } from '../../src/http/response/attachment.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../src/http/server/route-table.ts';
import { checkEarly, checkFileField, parseExtension } from './extension-schema.ts';
import type { Pace } from './job/pace.ts';
import { type StagedClip, WorkFolder } from './job/work-folder.ts';
import * as docs from './openapi.ts';
import { parseVideoQuery, variantOf } from './query.ts';
import { videoObject } from './response.ts';
import type { Videos } from './service.ts';

/** Longest JSON body: a prompt, and the address of a clip. */
const JSON_BYTES = 512 * 1024;
const TYPES = {
  video: { type: 'video/mp4', extension: 'mp4' },
  thumbnail: { type: 'image/webp', extension: 'webp' },
} as const;

export interface VideoRouteParts {
  readonly videos: Videos;
  readonly pace: Pace;
  readonly nowMs: () => number;
  /** An existing folder for clips while they are measured. */
  readonly folder: string;
  /** Largest clip. */
  readonly clipBytes: number;
}

/** Videos, as in OpenAI's SDK (spec 4.6; openai-wire 7). */
export function videoRoutes({ videos, pace, nowMs, folder, clipBytes }: VideoRouteParts) {
  const detail = { ...docs.extensionDocumentation(clipBytes), [UPLOAD_BYTES]: maxFormBytes(clipBytes) };
  const shown = (video: VideoRecord) => videoObject(video, pace.progress(video, nowMs()));
  return new Elysia({ name: 'videos', tags: ['video'] })
    .post('/v1/videos/extensions', ({ request, set }) => extend(request, set.headers), { detail })
    .post('/v1/videos', notOffered, { detail: docs.NOT_OFFERED })
    .post('/v1/videos/edits', notOffered, { detail: { hide: true } })
    .post('/v1/videos/characters', notOffered, { detail: { hide: true } })
    .get(
      '/v1/videos',
      async ({ request }) => {
        const page = await videos.list(callerOf(request), parseVideoQuery(request));
        const data = page.videos.map(shown);
        return {
          object: 'list',
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: page.hasMore,
        };
      },
      { detail: docs.LIST },
    )
    .get(
      '/v1/videos/:id',
      async ({ params, request, set }) => {
        readQuery(request, []);
        const video = await videos.get(callerOf(request), params.id);
        describe(video, set.headers);
        return shown(video);
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/videos/:id',
      async ({ params: { id }, request }) => {
        readQuery(request, []);
        await videos.delete(callerOf(request), id);
        return { id, object: 'video.deleted', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .get('/v1/videos/:id/content', ({ params, request, set }) => content(params.id, request, set.headers), {
      detail: docs.CONTENT,
    });

  async function extend(request: Request, headers: Record<string, string | number>) {
    readQuery(request, []);
    const caller = callerOf(request);
    const place = videos.begin(caller, request.signal);
    try {
      // One that may be sent again is looked up first: it may get a video that is there.
      if (idempotencyKeyOf(request) === undefined) await videos.requireRoom(caller);
      const video = await extendFrom(request, caller, place.signal);
      describe(video, headers);
      return shown(video);
    } finally {
      place.end();
    }
  }

  /** Makes the job, with a folder for its clip meanwhile. */
  async function extendFrom(request: Request, caller: Caller, signal: AbortSignal): Promise<VideoRecord> {
    const idleTimeout = idleTimeoutOf(request);
    const work = await WorkFolder.open(folder);
    try {
      const ask = parseExtension(await bodyOf(request, work, signal), videos.models);
      idleTimeout.suspend();
      return await videos.extend(ask, caller, idempotencyKeyOf(request), work, signal);
    } finally {
      idleTimeout.resume();
      await work.release();
    }
  }

  /** A form, whose file is written to the folder while it arrives, or JSON. */
  async function bodyOf(request: Request, work: WorkFolder, signal: AbortSignal): Promise<object | null> {
    const mediaType = mediaTypeOf(request.headers.get('content-type') ?? '');
    if (mediaType !== 'multipart/form-data') return await readBody(request, JSON_BYTES);
    let files = 0;
    const receiveFile = async ({ name, precedingFields, bytes }: IncomingFile, refused: AbortSignal) => {
      files += 1;
      checkFileField(name, files);
      checkEarly(precedingFields, videos.models);
      return await work.write('clip', bytes, refused);
    };
    return await readForm<StagedClip>(request, { fileBytes: clipBytes, receiveFile }, signal);
  }

  /** Says when to ask again. */
  function describe(video: VideoRecord, headers: Record<string, string | number>): void {
    if (!FINAL_VIDEO_STATUSES.has(video.status))
      headers['openai-poll-after-ms'] = pace.pollAfterMs(video, nowMs());
  }

  /** @param refusal headers that a refusal will have. */
  async function content(id: string, request: Request, refusal: Record<string, string | number>) {
    const variant = variantOf(request);
    const video = await videos.get(callerOf(request), id);
    const { lengthBytes, sha256 } = videos.made(video)[variant];
    const { type, extension } = TYPES[variant];
    const headers = {
      'content-type': type,
      'content-disposition': attachment(`${video.id}.${extension}`),
    };
    const read = (signal: AbortSignal, range?: ByteRange) => videos.read(video, variant, signal, range);
    const stored = { noun: variant, lengthBytes, etag: `"${sha256}"`, headers, read };
    return contentResponse(stored, request, refusal);
  }
}

/** What OpenAI has and this service has not (openai-wire 7). */
function notOffered(): never {
  throw new ServiceError(
    'not_found',
    'This service continues clips: POST /v1/videos/extensions. It makes no videos of a prompt alone, and edits none.',
  );
}
