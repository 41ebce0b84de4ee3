import { Elysia } from 'elysia';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { FINAL_VIDEO_STATUSES, type VideoRecord } from '../../src/contract/stores/video-store.ts';
import { mediaTypeOf, readBody } from '../../src/http/request/body.ts';
import { idempotencyKeyOf } from '../../src/http/request/idempotency-key.ts';
import { type IncomingFile, maxFormBytes, readForm } from '../../src/http/request/multipart.ts';
import { attachment } from '../../src/http/response/attachment.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../src/http/server/route-table.ts';
import { checkFileField, parseExtension, validateEarlyFields } from './extension-schema.ts';
import type { ProgressEstimator } from './job/progress-estimator.ts';
import { type StagedClip, WorkFolder } from './job/work-folder.ts';
import * as docs from './openapi.ts';
import { parseVideoQuery, variantOf } from './query.ts';
import { videoObject } from './response.ts';
import type { VideoService } from './service.ts';

/** Maximum size of a JSON body: a prompt and a URL. */
const JSON_BYTES = 512 * 1024;
const TYPES = {
  video: { type: 'video/mp4', extension: 'mp4' },
  thumbnail: { type: 'image/webp', extension: 'webp' },
} as const;

export interface VideoRouteDeps {
  readonly videos: VideoService;
  readonly progress: ProgressEstimator;
  readonly nowMs: () => number;
  /** An existing folder for clips during requests. */
  readonly folder: string;
  /** Maximum size of a clip, in bytes. */
  readonly clipBytes: number;
}

/** Video routes, compatible with OpenAI's SDK (spec 4.6; openai-wire 7). */
export function videoRoutes({ videos, progress, nowMs, folder, clipBytes }: VideoRouteDeps) {
  const detail = { ...docs.extensionDocumentation(clipBytes), [UPLOAD_BYTES]: maxFormBytes(clipBytes) };
  const shown = (video: VideoRecord) => videoObject(video, progress.progress(video, nowMs()));
  return new Elysia({ name: 'videos', tags: ['video'] })
    .post('/v1/videos/extensions', ({ request, set }) => extend(request, set.headers), { detail })
    .post('/v1/videos', notSupported, { detail: docs.NOT_SUPPORTED })
    .post('/v1/videos/edits', notSupported, { detail: { hide: true } })
    .post('/v1/videos/characters', notSupported, { detail: { hide: true } })
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
        const video = await videos.get(callerOf(request), params.id);
        setPollHeader(video, set.headers);
        return shown(video);
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/videos/:id',
      async ({ params: { id }, request }) => {
        await videos.delete(callerOf(request), id);
        return { id, object: 'video.deleted', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .get('/v1/videos/:id/content', ({ params, request, set }) => content(params.id, request, set.headers), {
      detail: docs.CONTENT,
    });

  async function extend(request: Request, headers: Record<string, string | number>) {
    const caller = callerOf(request);
    const slot = videos.startRequest(caller, request.signal);
    try {
      // With an idempotency key the video may exist already, which needs no quota: the key is checked first.
      if (idempotencyKeyOf(request) === undefined) await videos.requireQuota(caller);
      const video = await extendFrom(request, caller, slot.signal);
      setPollHeader(video, headers);
      return shown(video);
    } finally {
      slot.end();
    }
  }

  /** Creates the job, with a temporary folder for its clip. */
  async function extendFrom(request: Request, caller: Caller, signal: AbortSignal): Promise<VideoRecord> {
    const idleTimeout = idleTimeoutOf(request);
    const work = await WorkFolder.open(folder);
    try {
      const params = parseExtension(await bodyOf(request, work, signal), videos.models);
      idleTimeout.suspend();
      return await videos.extend(params, caller, idempotencyKeyOf(request), work, signal);
    } finally {
      idleTimeout.resume();
      await work.release();
    }
  }

  /** Reads JSON, or a form whose file is written to the folder while it arrives. */
  async function bodyOf(request: Request, work: WorkFolder, signal: AbortSignal): Promise<object | null> {
    const mediaType = mediaTypeOf(request.headers.get('content-type') ?? '');
    if (mediaType !== 'multipart/form-data') return await readBody(request, JSON_BYTES);
    let files = 0;
    const receiveFile = async ({ name, precedingFields, bytes }: IncomingFile, formSignal: AbortSignal) => {
      files += 1;
      checkFileField(name, files);
      validateEarlyFields(precedingFields, videos.models);
      return await work.write('clip', bytes, formSignal);
    };
    return await readForm<StagedClip>(request, { fileBytes: clipBytes, receiveFile }, signal);
  }

  /** Sets the recommended poll delay of an unfinished job. */
  function setPollHeader(video: VideoRecord, headers: Record<string, string | number>): void {
    if (!FINAL_VIDEO_STATUSES.has(video.status))
      headers['openai-poll-after-ms'] = progress.pollAfterMs(video, nowMs());
  }

  /** @param errorHeaders headers that are added to an error response. */
  async function content(id: string, request: Request, errorHeaders: Record<string, string | number>) {
    const variant = variantOf(request);
    const video = await videos.get(callerOf(request), id);
    const { lengthBytes, sha256 } = videos.contentOf(video)[variant];
    const { type, extension } = TYPES[variant];
    const headers = {
      'content-type': type,
      'content-disposition': attachment(`${video.id}.${extension}`),
    };
    const read = (signal: AbortSignal, range?: ByteRange) => videos.read(video, variant, signal, range);
    const stored = { noun: variant, lengthBytes, etag: `"${sha256}"`, headers, read };
    return contentResponse(stored, request, errorHeaders);
  }
}

/** OpenAI endpoints that this service does not support (openai-wire 7). */
function notSupported(): never {
  throw new ServiceError(
    'not_found',
    'Not supported. This service extends clips: POST /v1/videos/extensions. It does not create videos from text or edit them.',
  );
}
