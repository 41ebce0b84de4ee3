/** What Swagger shows of /v1/audio/voices. */

import {
  CONTENT_HEADERS,
  contentResponses,
  deleted,
  failure,
  json,
  pageOf,
  pageQuery,
  pathId,
  plain,
  WORK_FAILURES,
} from '../../src/http/openapi/route-docs.ts';
import { enrollmentFormSchema, NewVoiceObject, VoiceObject } from './schema.ts';

const ID = 'tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const VOICE_ID = pathId('voice_id', ID);
const NOT_FOUND = failure('There is no such voice of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The voices cannot be reached now; `retry-after` says when to try again');

/** The `detail` of POST /v1/audio/voices. */
export function enrollmentDocumentation(clipBytes: number) {
  return {
    summary: 'Store a voice',
    description:
      'Makes a voice of a clip of one speaker. It can be used at once, and comes nearer to the speaker for a while. Models that run inside of the service are adapted to the voice, and do not clone it; a server that clones is given the clip.',
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: plain(enrollmentFormSchema(clipBytes)) } },
    },
    responses: {
      200: json('The voice', NewVoiceObject),
      ...WORK_FAILURES,
      400: failure(
        'A field is missing or not allowed, or the clip cannot be used: its format, its length, too little speech, more than one speaker; `param` names the field. `voice_limit_exceeded`: the organization has as many voices as it may',
      ),
      413: failure(`The clip has more than ${clipBytes} bytes, or the form is too large`),
      415: failure('The body is no multipart form, or it is compressed'),
    },
  };
}

export const LIST = {
  summary: 'List stored voices',
  description: 'Voices of your organization.',
  parameters: pageQuery('voices', [1, 100, 20]),
  responses: {
    200: json('A page of voices', pageOf(VoiceObject, ID)),
    400: failure('A parameter is not allowed; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Read a stored voice',
  description: 'What is known of it. While its `status` is `improving`, it comes nearer to the speaker.',
  parameters: [VOICE_ID],
  responses: { 200: json('The voice', VoiceObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a stored voice',
  description: 'With its clip and all that was made of it. Speech that has begun is spoken to its end.',
  parameters: [VOICE_ID],
  responses: {
    200: json('It is deleted', deleted('audio.voice.deleted', ID)),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    503: BUSY,
  },
};

export const AUDIO = {
  summary: 'Listen to the clip of a stored voice',
  description:
    'The clip as it is kept, all or a range of its bytes: WAV, 16-bit mono, at the rate of the upload.',
  parameters: [VOICE_ID, ...CONTENT_HEADERS],
  responses: {
    ...contentResponses('audio/wav'),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    503: BUSY,
  },
};
