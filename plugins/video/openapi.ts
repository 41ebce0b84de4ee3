/** OpenAPI documentation of /v1/videos. */

import { Type } from '@sinclair/typebox';
import {
  CONTENT_HEADERS,
  contentResponses,
  deletionSchema,
  errorResponse,
  idempotencyKey,
  idParameter,
  jsonBody,
  jsonResponse,
  pageOf,
  pageQuery,
  queryParameter,
  toPlainSchema,
} from '../../src/http/openapi/route-docs.ts';
import { ExtensionFields } from './extension-schema.ts';
import { VideoObject } from './response.ts';

const ID = 'video_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const URL_EXAMPLE = 'https://example.com/clip.mp4';
const VIDEO_ID = idParameter('id', ID);
const NOT_FOUND = errorResponse('The video does not exist or belongs to another organization');
const BAD_PATH = errorResponse('The path is not percent-encoded UTF-8');
const BUSY = errorResponse('The video storage is unavailable; retry after `retry-after` seconds');

const { model, prompt, seconds } = ExtensionFields;
const orId = Type.Object({ id: Type.String({ examples: [ID] }) }, { additionalProperties: false });
const orUrl = Type.Object(
  { url: Type.String({ format: 'uri', examples: [URL_EXAMPLE] }) },
  { additionalProperties: false },
);

/** The `detail` of POST /v1/videos/extensions. */
export function extensionDocumentation(clipBytes: number) {
  const rules = `MP4 or QuickTime with H.264 or H.265 video and optional AAC or MP3 audio; 24 to 60 fps; sides of 300 to 6000 pixels; 2 to 15 s, with \`vid-2.5\` 2 to 30 s; at most ${clipBytes} bytes.`;
  const file = Type.Any({
    type: 'string',
    format: 'binary',
    description: `The clip to extend: ${rules} Alternatives to a file: the id of a completed video (\`video[id]\`), an https URL (\`video[url]\`), either as a string, or JSON with \`id\` or \`url\`.`,
  });
  const strict = { additionalProperties: false };
  return {
    summary: 'Extend a clip',
    description:
      'Creates a job that generates a new segment, starting at the end of the clip. The response is the `queued` job; poll it until it is finished. The clip is validated before the job is created. The content is the new segment only; its size is that of the clip, limited by the model. Credits for the maximum cost are reserved and settled when the job finishes; a failed job is free. `metadata.note` describes models that do not follow the prompt.',
    parameters: [
      idempotencyKey('For one day, a request with the same key and content returns the same video.'),
    ],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: toPlainSchema(Type.Object({ model, prompt, seconds, video: file }, strict)),
        },
        'application/json': {
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
      },
    },
    responses: {
      200: jsonResponse('The job', VideoObject),
      400: errorResponse(
        'A field is missing or invalid, or the clip is not supported: `param` names the field, `message` the actual and the allowed value. `storage_limit_exceeded`: the storage quota of the organization is exceeded',
      ),
      404: errorResponse('The source video does not exist or belongs to another organization'),
      409: errorResponse('The Idempotency-Key was already used for a different request'),
      413: errorResponse(`The file is larger than ${clipBytes} bytes, or the form is too large`),
      415: errorResponse('The body is neither a multipart form nor JSON, or it is compressed'),
      429: errorResponse(
        '`rate_limit_exceeded`: the organization has too many concurrent requests or unfinished jobs; `message` states the limits, `retry-after` the time to wait. `insufficient_quota`: its credits do not cover the maximum cost',
      ),
      503: errorResponse(
        'The clip storage is full or the service is overloaded; retry after `retry-after` seconds',
      ),
    },
  };
}

export const NOT_SUPPORTED = {
  summary: 'Not supported: create a video from text',
  description: 'Part of OpenAI’s API. Use POST /v1/videos/extensions to extend a clip.',
  responses: { 404: errorResponse('Always') },
};

export const LIST = {
  summary: 'List videos',
  description: 'Videos of your organization.',
  parameters: pageQuery('videos', { minimum: 0, maximum: 100, fallback: 20 }),
  responses: {
    200: jsonResponse('A page of videos', pageOf(VideoObject, ID)),
    400: errorResponse('A parameter is invalid; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Retrieve a video',
  description:
    'The current state of the job. While it is unfinished, the header `openai-poll-after-ms` recommends a poll delay.',
  parameters: [VIDEO_ID],
  responses: { 200: jsonResponse('The video', VideoObject), 400: BAD_PATH, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a video',
  description:
    'Deletes the job and its files. The job must be finished, and no unfinished job may extend it.',
  parameters: [VIDEO_ID],
  responses: {
    200: jsonResponse('The video is deleted', deletionSchema('video.deleted', ID)),
    400: BAD_PATH,
    404: NOT_FOUND,
    409: errorResponse('The video is unfinished, or an unfinished video extends it'),
    503: BUSY,
  },
};

export const CONTENT = {
  summary: 'Download a video',
  description:
    'The new segment as MP4 or its first frame as WebP, or a range of its bytes. HEAD returns the length.',
  parameters: [
    VIDEO_ID,
    queryParameter(
      'variant',
      { type: 'string', enum: ['video', 'thumbnail'], default: 'video' },
      'Kind of content. Sprite sheets are not supported.',
    ),
    ...CONTENT_HEADERS,
  ],
  responses: {
    ...contentResponses('video/mp4', 'image/webp'),
    400: errorResponse('The video has not completed (`video_not_ready`), or a parameter is invalid'),
    404: NOT_FOUND,
    503: BUSY,
  },
};
