/** What Swagger shows of /v1/videos. */

import { Type } from '@sinclair/typebox';
import {
  CONTENT_HEADERS,
  contentResponses,
  deleted,
  failure,
  idempotencyKey,
  json,
  jsonBody,
  pageOf,
  pageQuery,
  pathId,
  plain,
  query,
} from '../../src/http/openapi/route-docs.ts';
import { ExtensionFields } from './extension-schema.ts';
import { VideoObject } from './response.ts';

const ID = 'video_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const URL_EXAMPLE = 'https://example.com/clip.mp4';
const VIDEO_ID = pathId('id', ID);
const NOT_FOUND = failure('There is no such video of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The videos cannot be reached now; `retry-after` says when to try again');

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
      'Makes a new segment that begins where the clip ends, as a job: the answer is `queued`, ask for it again until it has ended. The clip is read and measured first, so one that cannot be used is refused at once. The segment alone is the content; its size follows the clip, up to the model’s ceiling. Credits for the most that it may cost are reserved now and settled at its end; a failed one costs nothing. `metadata.note` tells how the model makes segments where that is not what the prompt says.',
    parameters: [idempotencyKey('The same key with the same request gives the same video, for a day.')],
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: plain(Type.Object({ model, prompt, seconds, video: file }, strict)),
        },
        'application/json': {
          schema: jsonBody(
            Type.Object({ model, prompt, seconds, video: Type.Union([orId, orUrl, Type.String()]) }, strict),
          ),
          examples: {
            again: {
              summary: 'Go on with a video that has completed',
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
      200: json('The job', VideoObject),
      400: failure(
        'A field is missing or not allowed, or the clip cannot be used: `param` names the field, the message what was found and what is allowed. `storage_limit_exceeded`: the videos of the organization have too many bytes',
      ),
      404: failure('The video that is to be continued is none of your organization'),
      409: failure('The Idempotency-Key was sent with another request'),
      413: failure(`The file has more than ${clipBytes} bytes, or the form is too large`),
      415: failure('The body is neither a multipart form nor JSON, or it is compressed'),
      429: failure(
        '`rate_limit_exceeded`: the organization has too many concurrent requests or unfinished jobs; `message` states the limits, `retry-after` the time to wait. `insufficient_quota`: its credits do not cover the most that this may cost',
      ),
      503: failure(
        'There is no room for the clip now, or too much to do; `retry-after` says when to try again',
      ),
    },
  };
}

export const NOT_OFFERED = {
  summary: 'Not offered: a video of a prompt alone',
  description: 'OpenAI’s clients have this call. Here clips are continued: POST /v1/videos/extensions.',
  responses: { 404: failure('Always') },
};

export const LIST = {
  summary: 'List videos',
  description: 'Videos of your organization.',
  parameters: pageQuery('videos', [0, 100, 20]),
  responses: {
    200: json('A page of videos', pageOf(VideoObject, ID)),
    400: failure('A parameter is not allowed; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Read a video',
  description:
    'The job as it is now. While it has not ended, the header `openai-poll-after-ms` says when to ask again.',
  parameters: [VIDEO_ID],
  responses: { 200: json('The video', VideoObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a video',
  description: 'The job and its bytes, once it has ended and nothing continues it.',
  parameters: [VIDEO_ID],
  responses: {
    200: json('It is deleted', deleted('video.deleted', ID)),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    409: failure('The video has not ended, or another that has not ended continues it'),
    503: BUSY,
  },
};

export const CONTENT = {
  summary: 'Download a video',
  description:
    'The new segment as MP4, or its first frame as WebP, all bytes or a range of them. HEAD tells their length.',
  parameters: [
    VIDEO_ID,
    query(
      'variant',
      { type: 'string', enum: ['video', 'thumbnail'], default: 'video' },
      'What of it. There are no sprite sheets.',
    ),
    ...CONTENT_HEADERS,
  ],
  responses: {
    ...contentResponses('video/mp4', 'image/webp'),
    400: failure('The video has not completed (`video_not_ready`), or a parameter is not allowed'),
    404: NOT_FOUND,
    503: BUSY,
  },
};
