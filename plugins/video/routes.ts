import { Type } from '@sinclair/typebox';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { Route } from '../../src/contract/route.ts';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { FINAL_VIDEO_STATUSES, type VideoRecord } from '../../src/contract/stores/video-store.ts';
import { jsonBody, jsonResponse, queryParameter } from '../../src/http/openapi/route-docs.ts';
import { listQuery } from '../../src/http/queries.ts';
import { mediaTypeOf, readBody } from '../../src/http/request/body.ts';
import { type IncomingFile, maxFormBytes, readForm } from '../../src/http/request/multipart.ts';
import { choiceIn, readQuery } from '../../src/http/request/query.ts';
import { attachment } from '../../src/http/response/attachment.ts';
import { deletedBody, listBody } from '../../src/http/response/bodies.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { type RouteQuery, route } from '../../src/http/route.ts';
import { storedObject } from '../../src/http/stored-object.ts';
import { checkFileField, ExtensionFields, parseExtension, validateEarlyFields } from './extension-schema.ts';
import type { ProgressEstimator } from './job/progress-estimator.ts';
import { type StagedClip, WorkFolder } from './job/work-folder.ts';
import { VideoObject, videoObject } from './response.ts';
import type { Variant, VideoService } from './service.ts';

/** Maximum size of a JSON body: a prompt and a URL. */
const JSON_BYTES = 512 * 1024;
const VARIANTS = ['video', 'thumbnail'] as const;
const TYPES = {
  video: { type: 'video/mp4', extension: 'mp4' },
  thumbnail: { type: 'image/webp', extension: 'webp' },
} as const;

export interface VideoServices {
  readonly videos: VideoService;
  readonly progress: ProgressEstimator;
  readonly nowMs: () => number;
}

export interface VideoRouteSettings {
  /** An existing folder for clips during requests. */
  readonly folder: string;
  /** Maximum size of a clip, in bytes. */
  readonly clipBytes: number;
}

const ID = 'video_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const VIDEO = storedObject({
  noun: 'video',
  tag: 'video',
  path: '/v1/videos',
  id: 'id',
  example: ID,
  schema: VideoObject,
  deleted: 'video.deleted',
});

const VIDEO_CONTENT = VIDEO.download('video/mp4', 'image/webp');

const VARIANT_QUERY: RouteQuery<Variant> = {
  parameters: [
    queryParameter(
      'variant',
      { type: 'string', enum: VARIANTS, default: 'video' },
      'Kind of content. Sprite sheets are not supported.',
    ),
  ],
  read: (request) =>
    choiceIn('variant', readQuery(request, ['variant']).variant, VARIANTS, 'unsupported_value') ?? 'video',
};

/** Video routes, compatible with OpenAI's SDK (spec 4.6; openai-wire 7). */
export function videoRoutes({ folder, clipBytes }: VideoRouteSettings): readonly Route<VideoServices>[] {
  return [
    route({
      method: 'POST',
      path: '/v1/videos/extensions',
      tag: 'video',
      summary: 'Extend a clip',
      description:
        'Creates a job that generates a new segment, starting at the end of the clip. The response is the `queued` job; poll it until it is finished. The clip is validated before the job is created. The content is the new segment only; its size is that of the clip, limited by the model. Credits for the maximum cost are reserved and settled when the job finishes; a failed job is free. `metadata.note` describes models that do not follow the prompt.',
      idempotent: 'For one day, a request with the same key and content returns the same video.',
      upload: { maxBytes: maxFormBytes(clipBytes) },
      body: extensionBody(clipBytes),
      responses: {
        200: jsonResponse('The job', VideoObject),
        400: 'A field is missing or invalid, or the clip is not supported: `param` names the field, `message` the actual and the allowed value. `storage_limit_exceeded`: the storage quota of the organization is exceeded',
        404: 'The source video does not exist or belongs to another organization',
        409: 'The Idempotency-Key was already used for a different request',
        413: `The file is larger than ${clipBytes} bytes, or the form is too large`,
        415: 'The body is neither a multipart form nor JSON, or it is compressed',
        429: '`rate_limit_exceeded`: the organization has too many concurrent requests or unfinished jobs; `message` states the limits, `retry-after` the time to wait. `insufficient_quota`: its credits do not cover the maximum cost',
        503: 'The clip storage is full or the service is overloaded; retry after `retry-after` seconds',
      },
      async handle({ caller, request, idempotencyKey: key, set }, services: VideoServices) {
        const { videos } = services;
        const slot = videos.open.startRequest(caller, request.signal);
        try {
          // With an idempotency key the video may exist already, which needs no quota: the key is checked first.
          if (key === undefined) await videos.requireQuota(caller);
          const video = await extend(
            videos,
            { folder, clipBytes },
            { caller, request, key, signal: slot.signal },
          );
          setPollHeader(video, services, set.headers);
          return shown(video, services);
        } finally {
          slot.end();
        }
      },
    }),
    route({
      method: 'POST',
      path: VIDEO.list.path,
      tag: 'video',
      summary: 'Not supported: create a video from text',
      description: 'Part of OpenAI’s API. Use POST /v1/videos/extensions to extend a clip.',
      responses: { 404: 'Always' },
      handle: notSupported,
    }),
    route({
      ...VIDEO.list,
      description: 'Videos of your organization.',
      query: listQuery('videos', { minimum: 0, maximum: 100, fallback: 20 }),
      async handle({ caller, query }, services: VideoServices) {
        const page = await services.videos.list(caller, query);
        return listBody(
          page.videos.map((video) => shown(video, services)),
          page.hasMore,
        );
      },
    }),
    route({
      ...VIDEO.retrieve,
      description:
        'The current state of the job. While it is unfinished, the header `openai-poll-after-ms` recommends a poll delay.',
      async handle({ caller, params, set }, services: VideoServices) {
        const video = await services.videos.get(caller, params.id);
        setPollHeader(video, services, set.headers);
        return shown(video, services);
      },
    }),
    route({
      ...VIDEO.remove,
      description:
        'Deletes the job and its files. The job must be finished, and no unfinished job may extend it.',
      responses: {
        ...VIDEO.remove.responses,
        409: 'The video is unfinished, or an unfinished video extends it',
      },
      async handle({ caller, params: { id } }, { videos }: VideoServices) {
        await videos.delete(caller, id);
        return deletedBody('video.deleted', id);
      },
    }),
    route({
      ...VIDEO_CONTENT,
      path: '/v1/videos/:id/content',
      description:
        'The new segment as MP4 or its first frame as WebP, or a range of its bytes. HEAD returns the length.',
      query: VARIANT_QUERY,
      responses: {
        ...VIDEO_CONTENT.responses,
        400: 'The video has not completed (`video_not_ready`), or a parameter is invalid',
      },
      async handle({ caller, params, query: variant, request, set }, { videos }: VideoServices) {
        const video = await videos.get(caller, params.id);
        const { lengthBytes, sha256 } = videos.contentOf(video)[variant];
        const { type, extension } = TYPES[variant];
        const headers = {
          'content-type': type,
          'content-disposition': attachment(`${video.id}.${extension}`),
        };
        const read = (signal: AbortSignal, range?: ByteRange) => videos.read(video, variant, signal, range);
        const stored = { noun: variant, lengthBytes, etag: `"${sha256}"`, headers, read };
        return contentResponse(stored, request, set.headers);
      },
    }),
    route({ method: 'POST', path: '/v1/videos/edits', isHidden: true, handle: notSupported }),
    route({ method: 'POST', path: '/v1/videos/characters', isHidden: true, handle: notSupported }),
  ];
}

const { model, prompt, seconds } = ExtensionFields;
const orId = Type.Object({ id: Type.String({ examples: [ID] }) }, { additionalProperties: false });
const orUrl = Type.Object(
  { url: Type.String({ format: 'uri', examples: ['https://example.com/clip.mp4'] }) },
  { additionalProperties: false },
);

/** Documentation of the body of an extension. */
function extensionBody(clipBytes: number) {
  const rules = `MP4 or QuickTime with H.264 or H.265 video and optional AAC or MP3 audio; 24 to 60 fps; sides of 300 to 6000 pixels; 2 to 15 s, with \`vid-2.5\` 2 to 30 s; at most ${clipBytes} bytes.`;
  const file = Type.Any({
    type: 'string',
    format: 'binary',
    description: `The clip to extend: ${rules} Alternatives to a file: the id of a completed video (\`video[id]\`), an https URL (\`video[url]\`), either as a string, or JSON with \`id\` or \`url\`.`,
  });
  const strict = { additionalProperties: false };
  return {
    form: Type.Object({ model, prompt, seconds, video: file }, strict),
    json: {
      schema: jsonBody(
        Type.Object({ model, prompt, seconds, video: Type.Union([orId, orUrl, Type.String()]) }, strict),
      ),
      examples: {
        again: {
          summary: 'Extend a completed video',
          value: {
            model: 'vid-2.0',
            prompt: 'The camera keeps panning.',
            seconds: '4',
            video: { id: ID },
          },
        },
      },
    },
  };
}

interface ExtensionRequest {
  readonly caller: Caller;
  readonly request: Request;
  /** Value of `Idempotency-Key`. */
  readonly key: string | undefined;
  readonly signal: AbortSignal;
}

/** Creates the job, with a temporary folder for its clip. */
async function extend(
  videos: VideoService,
  settings: VideoRouteSettings,
  { caller, request, key, signal }: ExtensionRequest,
): Promise<VideoRecord> {
  const idleTimeout = idleTimeoutOf(request);
  const work = await WorkFolder.open(settings.folder);
  try {
    const body = await bodyOf(request, { videos, work, clipBytes: settings.clipBytes }, signal);
    const params = parseExtension(body, videos.models);
    idleTimeout.suspend();
    return await videos.extend(params, caller, key, work, signal);
  } finally {
    idleTimeout.resume();
    await work.release();
  }
}

/** Reads JSON, or a form whose file is written to the folder while it arrives. */
async function bodyOf(
  request: Request,
  { videos, work, clipBytes }: { videos: VideoService; work: WorkFolder; clipBytes: number },
  signal: AbortSignal,
): Promise<object | null> {
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

function shown(video: VideoRecord, { progress, nowMs }: VideoServices) {
  return videoObject(video, progress.progress(video, nowMs()));
}

/** Sets the recommended poll delay of an unfinished job. */
function setPollHeader(
  video: VideoRecord,
  { progress, nowMs }: VideoServices,
  headers: Record<string, string | number>,
): void {
  if (!FINAL_VIDEO_STATUSES.has(video.status))
    headers['openai-poll-after-ms'] = progress.pollAfterMs(video, nowMs());
}

/** OpenAI endpoints that this service does not support (openai-wire 7). */
function notSupported(): never {
  throw new ServiceError(
    'not_found',
    'Not supported. This service extends clips: POST /v1/videos/extensions. It does not create videos from text or edit them.',
  );
}
