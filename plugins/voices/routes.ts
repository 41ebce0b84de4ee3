import { type TSchema, Type } from '@sinclair/typebox';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { Route } from '../../src/contract/route.ts';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import {
  jsonResponse,
  pageOf,
  pageQuery,
  queryParameter,
  WORK_FAILURES,
} from '../../src/http/openapi/route-docs.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../src/http/request/multipart.ts';
import { deletedBody } from '../../src/http/response/bodies.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { type RouteQuery, route } from '../../src/http/route.ts';
import { storedObject } from '../../src/http/stored-object.ts';
import { once } from '../../src/kit/async/once.ts';
import type { EnrollmentService } from './enrollment.ts';
import {
  enrollmentFormSchema,
  LIMIT,
  NamedVoiceObject,
  NewVoiceObject,
  namedVoiceObject,
  newVoiceObject,
  parseEnrollment,
  parseVoiceQuery,
  VoiceNames,
  VoiceObject,
  type VoiceQuery,
  voiceObject,
  voicesBody,
} from './schema.ts';
import type { VoiceService } from './service.ts';

export interface VoiceRouteServices {
  readonly voices: VoiceService;
  readonly enrollments: EnrollmentService;
}

const ID = 'tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f';
const VOICE = storedObject({
  noun: 'voice',
  tag: 'audio',
  path: '/v1/audio/voices',
  id: 'voice_id',
  example: ID,
  schema: VoiceObject,
  deleted: 'audio.voice.deleted',
});

const LIST_QUERY: RouteQuery<VoiceQuery> = {
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
    ...pageQuery('voices', LIMIT),
  ],
  read: parseVoiceQuery,
};

/** A page of voices of one kind, with their names for clients of other servers. */
function voicePage(Item: TSchema) {
  const page = pageOf(Item, ID);
  return Type.Object({ ...page.properties, voices: VoiceNames }, { title: page.title ?? '' });
}

/** Stored voices: POST, GET and DELETE of /v1/audio/voices (spec 4.4), compatible with OpenAI's SDK. */
export function voiceRoutes(uploads: UploadSettings): readonly Route<VoiceRouteServices>[] {
  return [
    route({
      method: 'POST',
      path: VOICE.list.path,
      tag: 'audio',
      summary: 'Create a stored voice',
      description:
        'Creates a voice from a clip of one speaker. It can be used immediately. Built-in models approximate the speaker by adaptation, without voice cloning; an upstream server that clones voices receives the clip.',
      upload: { maxBytes: maxFormBytes(uploads.fileBytes) },
      body: { form: enrollmentFormSchema(uploads.fileBytes) },
      responses: {
        200: jsonResponse('The voice', NewVoiceObject),
        ...WORK_FAILURES,
        400: 'A field is missing or invalid, or the clip is not supported (format, length, too little speech, more than one speaker); `param` names the field. `voice_limit_exceeded`: the organization has reached its limit of voices',
        413: `The clip is larger than ${uploads.fileBytes} bytes, or the form is too large`,
        415: 'The body is not a multipart form, or it is compressed',
      },
      async handle({ caller, request }, { enrollments }: VoiceRouteServices) {
        const idleTimeout = idleTimeoutOf(request);
        // Released in reverse order: the file, then the request slot.
        const resources = new AsyncDisposableStack();
        try {
          const slot = resources.adopt(enrollments.open.startRequest(caller, request.signal), (open) =>
            open.end(),
          );
          await enrollments.requireQuota(caller);
          const form = resources.adopt(await receiveForm(request, uploads, slot.signal), (it) =>
            it.release(),
          );
          const params = parseEnrollment(form.fields);
          idleTimeout.suspend();
          const { voice, warnings } = await enrollments.enroll(params, caller, slot.signal);
          return newVoiceObject(voice, warnings);
        } finally {
          await resources.disposeAsync();
          idleTimeout.resume();
        }
      },
    }),
    route({
      ...VOICE.list,
      description:
        'Stored voices of your organization. With `model`: the voices of that speech model that requests can name, such as OpenAI’s; none if only another server knows them.',
      query: LIST_QUERY,
      responses: {
        ...VOICE.list.responses,
        200: jsonResponse(
          'A page of voices',
          Type.Union([voicePage(VoiceObject), voicePage(NamedVoiceObject)]),
        ),
        400: 'A parameter is invalid, or the model does not exist; `param` names it',
      },
      async handle({ caller, query }, { voices }: VoiceRouteServices) {
        return query.model === undefined
          ? await listStored(voices, caller, query)
          : listNamed(voices, query.model, query);
      },
    }),
    route({
      ...VOICE.retrieve,
      summary: 'Retrieve a stored voice',
      description: 'Returns the metadata of the voice.',
      async handle({ caller, params }, { voices }: VoiceRouteServices) {
        return voiceObject(await voices.get(caller, params.voice_id));
      },
    }),
    route({
      ...VOICE.remove,
      summary: 'Delete a stored voice',
      description:
        'Deletes the voice, its clip and all derived data. Speech that has already started is completed.',
      async handle({ caller, params: { voice_id: id } }, { voices }: VoiceRouteServices) {
        await voices.delete(caller, id);
        return deletedBody('audio.voice.deleted', id);
      },
    }),
    route({
      ...VOICE.download('audio/wav'),
      path: '/v1/audio/voices/:voice_id/audio',
      summary: 'Download the clip of a stored voice',
      description:
        'Returns the stored clip or a range of its bytes: WAV, 16-bit mono, at the sample rate of the upload.',
      async handle({ caller, params: { voice_id: id }, request, set }, { voices }: VoiceRouteServices) {
        const wav = await voices.clip(caller, id, request.signal);
        const stored = {
          noun: 'clip',
          lengthBytes: wav.length,
          headers: { 'content-type': 'audio/wav' },
          // A clip is immutable.
          etag: `"${id}"`,
          read: async (_: AbortSignal, range?: ByteRange) => once(wav.subarray(range?.start, range?.end)),
        };
        return contentResponse(stored, request, set.headers);
      },
    }),
  ];
}

async function listStored(voices: VoiceService, caller: Caller, query: VoiceQuery) {
  const { limit, order, after } = query;
  const { voices: page, hasMore } = await voices.list(caller, { limit, order, after });
  // On the first page only.
  const named = after === undefined ? voices.namedVoices() : [];
  return voicesBody(page.map(voiceObject), hasMore, query, named);
}

function listNamed(voices: VoiceService, model: string, query: VoiceQuery) {
  const { limit, order, after } = query;
  const named = voices.namedVoicesOf(model);
  // The voices have no creation time: the default order is that of the model.
  const ordered = order === 'asc' ? named.toReversed() : named;
  const last = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && last === -1) {
    throw invalidRequest("'after' must be the id of one of the voices.", 'after', 'invalid_value');
  }
  const rest = ordered.slice(last + 1);
  return voicesBody(rest.slice(0, limit).map(namedVoiceObject), rest.length > limit, query);
}
