/** What Swagger shows of /v1/videos. */

import { Type } from '@sinclair/typebox';
import { failure, plain } from '../../src/http/route-docs.ts';
import { ExtensionFields } from './extension-model.ts';
import { VideoObject } from './video-object.ts';

const ID = 'video_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const URL_EXAMPLE = 'https://example.com/clip.mp4';
const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema: plain(schema) } },
});
const NOT_FOUND = failure('There is no such video of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The videos cannot be reached now; `retry-after` says when to try again');
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
const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: false,
  schema: { type: 'string' as const },
  description,
});

const { model, prompt, seconds } = ExtensionFields;
const orId = Type.Object({ id: Type.String({ examples: [ID] }) }, { additionalProperties: false });
const orUrl = Type.Object(
  { url: Type.String({ format: 'uri', examples: [URL_EXAMPLE] }) },
  { additionalProperties: false },
);

/** The `detail` of POST /v1/videos/extensions. */
export function extensionDocumentation(clipBytes: number) {
  const rules = `MP4 or QuickTime with H.264 or H.265, AAC or MP3 sound if any; 24 to 60 fps; sides of 300 to 6000 pixels; 2 to 15 s, with \`vid-2.5\` 2 to 30 s; at most ${clipBytes} bytes.`;
  const file = Type.Any({
    type: 'string',
    format: 'binary',
    description: `The clip to continue: ${rules} Instead of a file: the id of a completed video (\`video[id]\`), an https URL (\`video[url]\`), either as text, or JSON with \`id\` or \`url\`.`,
  });
  const strict = { additionalProperties: false };
  return {
    summary: 'Continue a clip',
    description:
      'Makes a new segment that begins where the clip ends, as a job: the answer is `queued`, ask for it again until it has ended. The clip is read and measured first, so one that cannot be used is refused at once. The segment alone is the content; its size follows the clip, up to the model’s ceiling. Credits for the most that it may cost are reserved now and settled at its end; a failed one costs nothing. The header `x-model-note` tells how the model makes segments where that is not what the prompt says.',
    parameters: [
      {
        ...header('Idempotency-Key', 'The same key with the same request gives the same video, for a day.'),
        schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: plain(Type.Object({ model, prompt, seconds, video: file }, strict)),
        },
        'application/json': {
          schema: plain(
            Type.Object({ model, prompt, seconds, video: Type.Union([orId, orUrl, Type.String()]) }, strict),
          ),
        },
      },
    },
    responses: {
      200: json('The job', VideoObject),
      400: failure(
        'A field is missing or not allowed, or the clip cannot be used: `param` names the field, the message what was found and what is allowed. `storage_limit_exceeded`: the videos of the organization have too many bytes',
      ),
      404: failure('The video that is to be continued is none of your organization'),
      409: failure('The Idempotency-Key was sent with another request'),
      413: failure(`The file has more than ${clipBytes} bytes, or the form is too large`),
      415: failure('The body is neither a multipart form nor JSON, or it is compressed'),
      429: failure(
        '`rate_limit_exceeded`: the organization has too many requests or videos open; `retry-after` says when to try again. `insufficient_quota`: its credits do not cover the most that this may cost',
      ),
      503: failure(
        'There is no room for the clip now, or too much to do; `retry-after` says when to try again',
      ),
    },
  };
}

export const LIST = {
  summary: 'List videos',
  description: 'Videos of your organization.',
  parameters: [
    query('limit', { type: 'integer', minimum: 0, maximum: 100, default: 20 }, 'Videos of one page.'),
    query('order', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }, 'By the time of creation.'),
    query('after', { type: 'string' }, 'Id of the last video of the page before.'),
  ],
  responses: {
    200: json(
      'A page of videos',
      Type.Object({
        object: Type.Literal('list'),
        data: Type.Array(VideoObject),
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
  summary: 'Read a video',
  description:
    'The job as it is now. While it has not ended, the header `openai-poll-after-ms` says when to ask again.',
  parameters: [id],
  responses: { 200: json('The video', VideoObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a video',
  parameters: [id],
  responses: {
    200: json(
      'It is deleted',
      Type.Object({
        id: Type.String({ examples: [ID] }),
        object: Type.Literal('video.deleted'),
        deleted: Type.Literal(true),
      }),
    ),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    409: failure('The video has not ended, or another that has not ended continues it'),
    503: BUSY,
  },
};

const bytes = {
  content: {
    'video/mp4': { schema: { type: 'string' as const, format: 'binary' } },
    'image/webp': { schema: { type: 'string' as const, format: 'binary' } },
  },
};

export const CONTENT = {
  summary: 'Download a video',
  description:
    'The new segment as MP4, or its first frame as WebP, all bytes or a range of them. HEAD tells their length.',
  parameters: [
    id,
    query(
      'variant',
      { type: 'string', enum: ['video', 'thumbnail'], default: 'video' },
      'What of it. There are no sprite sheets.',
    ),
    {
      ...header('Range', 'One range of bytes. Several are answered with all bytes.'),
      example: 'bytes=0-1023',
    },
    header('If-None-Match', 'Entity tags of what the client has, or `*`. The tag of a content is in `etag`.'),
  ],
  responses: {
    200: { description: 'All bytes', ...bytes },
    206: { description: 'The bytes of the range; `content-range` says which', ...bytes },
    304: { description: 'The client has it: `If-None-Match` names its tag' },
    400: failure('The video has not completed (`video_not_ready`), or a parameter is not allowed'),
    404: NOT_FOUND,
    416: failure('The range begins behind the last byte; `content-range` says how many there are'),
    503: BUSY,
  },
};
