/** OpenAPI documentation of /v1/audio/voices. */

import { type TSchema, Type } from '@sinclair/typebox';
import {
  CONTENT_HEADERS,
  contentResponses,
  deletionSchema,
  errorResponse,
  idParameter,
  jsonResponse,
  pageOf,
  pageQuery,
  queryParameter,
  toPlainSchema,
  WORK_FAILURES,
} from '../../src/http/openapi/route-docs.ts';
import { enrollmentFormSchema, NamedVoiceObject, NewVoiceObject, VoiceNames, VoiceObject } from './schema.ts';

const ID = 'tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const VOICE_ID = idParameter('voice_id', ID);
const NOT_FOUND = errorResponse('The voice does not exist or belongs to another organization');
const BAD_PATH = errorResponse('The path is not percent-encoded UTF-8');
const BUSY = errorResponse('The voice storage is unavailable; retry after `retry-after` seconds');

/** The `detail` of POST /v1/audio/voices. */
export function enrollmentDocumentation(clipBytes: number) {
  return {
    summary: 'Create a stored voice',
    description:
      'Creates a voice from a clip of one speaker. It can be used immediately. Built-in models approximate the speaker by adaptation, without voice cloning; an upstream server that clones voices receives the clip.',
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: toPlainSchema(enrollmentFormSchema(clipBytes)) } },
    },
    responses: {
      200: jsonResponse('The voice', NewVoiceObject),
      ...WORK_FAILURES,
      400: errorResponse(
        'A field is missing or invalid, or the clip is not supported (format, length, too little speech, more than one speaker); `param` names the field. `voice_limit_exceeded`: the organization has reached its limit of voices',
      ),
      413: errorResponse(`The clip is larger than ${clipBytes} bytes, or the form is too large`),
      415: errorResponse('The body is not a multipart form, or it is compressed'),
    },
  };
}

/** A page of voices of one kind, with their names for clients of other servers. */
function voicePage(Item: TSchema) {
  const page = pageOf(Item, ID);
  return Type.Object({ ...page.properties, voices: VoiceNames }, { title: page.title ?? '' });
}

export const LIST = {
  summary: 'List voices',
  description:
    'Stored voices of your organization. With `model`: the voices of that speech model that requests can name, such as OpenAI’s; none if only another server knows them.',
  parameters: [
    queryParameter(
      'model',
      { type: 'string' },
      'Id of a speech model, such as `tts-1`: list its voices instead of stored voices, 100 per page by default.',
    ),
    queryParameter(
      'legacy',
      { type: 'boolean', default: false },
      'Whether `voices` has ids instead of objects, as in early versions of Kokoro-FastAPI.',
    ),
    ...pageQuery('voices', [1, 100, 20]),
  ],
  responses: {
    200: jsonResponse('A page of voices', Type.Union([voicePage(VoiceObject), voicePage(NamedVoiceObject)])),
    400: errorResponse('A parameter is invalid, or the model does not exist; `param` names it'),
    503: BUSY,
  },
};

export const RETRIEVE = {
  summary: 'Retrieve a stored voice',
  description: 'Returns the metadata of the voice.',
  parameters: [VOICE_ID],
  responses: { 200: jsonResponse('The voice', VoiceObject), 400: BAD_PATH, 404: NOT_FOUND, 503: BUSY },
};

export const DELETE = {
  summary: 'Delete a stored voice',
  description:
    'Deletes the voice, its clip and all derived data. Speech that has already started is completed.',
  parameters: [VOICE_ID],
  responses: {
    200: jsonResponse('The voice is deleted', deletionSchema('audio.voice.deleted', ID)),
    400: BAD_PATH,
    404: NOT_FOUND,
    503: BUSY,
  },
};

export const AUDIO = {
  summary: 'Download the clip of a stored voice',
  description:
    'Returns the stored clip or a range of its bytes: WAV, 16-bit mono, at the sample rate of the upload.',
  parameters: [VOICE_ID, ...CONTENT_HEADERS],
  responses: {
    ...contentResponses('audio/wav'),
    400: BAD_PATH,
    404: NOT_FOUND,
    503: BUSY,
  },
};
