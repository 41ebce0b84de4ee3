/** What Swagger shows of /v1/audio/voices. */

import { Type } from '@sinclair/typebox';
import { failure, plain, WORK_FAILURES } from '../../src/http/route-docs.ts';
import { enrollmentFormSchema, NewVoiceObject, VoiceObject } from './voice-model.ts';

const ID = 'tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema: plain(schema) } },
});
const NOT_FOUND = failure('There is no such voice of your organization');
const NO_PARAMETERS = failure('There is a parameter in the query; `param` names it');
const BUSY = failure('The voices cannot be reached now; `retry-after` says when to try again');
const voiceId = {
  name: 'voice_id',
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
const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header' as const,
  required: false,
  schema: { type: 'string' as const },
  description,
  example,
});
const wav = {
  content: { 'audio/wav': { schema: { type: 'string' as const, format: 'binary' } } },
};

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
  parameters: [
    query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'Voices of one page.'),
    query('order', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }, 'By the time of creation.'),
    query('after', { type: 'string' }, 'Id of the last voice of the page before.'),
  ],
  responses: {
    200: json(
      'A page of voices',
      Type.Object({
        object: Type.Literal('list'),
        data: Type.Array(VoiceObject),
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
  summary: 'Read a stored voice',
  parameters: [voiceId],
  responses: { 200: json('The voice', VoiceObject), 400: NO_PARAMETERS, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a stored voice',
  description: 'With its clip and all that was made of it. Speech that has begun is spoken to its end.',
  parameters: [voiceId],
  responses: {
    200: json(
      'It is deleted',
      Type.Object({
        id: Type.String({ examples: [ID] }),
        object: Type.Literal('audio.voice.deleted'),
        deleted: Type.Literal(true),
      }),
    ),
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    503: BUSY,
  },
};

export const AUDIO = {
  summary: 'Listen to the clip of a stored voice',
  description:
    'The clip as it is kept, all or a range of its bytes: WAV, 16-bit mono, at the rate of the upload.',
  parameters: [
    voiceId,
    header('Range', 'One range of bytes. Several are answered with all bytes.', 'bytes=0-1023'),
    header('If-None-Match', 'Entity tags of what the client has, or `*`.', `"${ID}"`),
  ],
  responses: {
    200: { description: 'All bytes', ...wav },
    206: { description: 'The bytes of the range; `content-range` says which', ...wav },
    304: { description: 'The client has it: `If-None-Match` names its tag' },
    400: NO_PARAMETERS,
    404: NOT_FOUND,
    416: failure('The range begins behind the last byte; `content-range` says how many there are'),
    503: BUSY,
  },
};
