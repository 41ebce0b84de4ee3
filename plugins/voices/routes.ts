import { Elysia } from 'elysia';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../src/http/request/multipart.ts';
import { readQuery } from '../../src/http/request/query.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../src/http/server/route-table.ts';
import { inOnePiece } from './clips/clip-wav.ts';
import type { Enrollments } from './enrollment.ts';
import * as docs from './openapi.ts';
import { newVoiceObject, parseEnrollment, parseVoiceQuery, voiceObject } from './schema.ts';
import type { Voices } from './service.ts';

/** Stored voices: POST, GET and DELETE of /v1/audio/voices (spec 4.4), with what OpenAI's SDK asks for. */
export function voiceRoutes(voices: Voices, enrollments: Enrollments, uploads: UploadSettings) {
  const enrollDetail = {
    ...docs.enrollmentDocumentation(uploads.fileBytes),
    [UPLOAD_BYTES]: maxFormBytes(uploads.fileBytes),
  };
  return new Elysia({ name: 'voices', tags: ['audio'] })
    .post('/v1/audio/voices', ({ request }) => enroll(request), { detail: enrollDetail })
    .get(
      '/v1/audio/voices',
      async ({ request }) => {
        const { voices: page, hasMore } = await voices.list(callerOf(request), parseVoiceQuery(request));
        return {
          object: 'list',
          data: page.map(voiceObject),
          first_id: page[0]?.id ?? null,
          last_id: page.at(-1)?.id ?? null,
          has_more: hasMore,
        };
      },
      { detail: docs.LIST },
    )
    .get(
      '/v1/audio/voices/:voice_id',
      async ({ params, request }) => {
        readQuery(request, []);
        return voiceObject(await voices.get(callerOf(request), params.voice_id));
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/audio/voices/:voice_id',
      async ({ params: { voice_id: id }, request }) => {
        readQuery(request, []);
        await voices.delete(callerOf(request), id);
        return { id, object: 'audio.voice.deleted', deleted: true };
      },
      { detail: docs.DELETE },
    )
    .get(
      '/v1/audio/voices/:voice_id/audio',
      ({ params, request, set }) => clip(params.voice_id, request, set.headers),
      { detail: docs.AUDIO },
    );

  async function enroll(request: Request) {
    const caller = callerOf(request);
    const idleTimeout = idleTimeoutOf(request);
    // Ended in reverse: the file, then the place that it took.
    const held = new AsyncDisposableStack();
    try {
      const place = held.adopt(enrollments.begin(caller, request.signal), (open) => open.end());
      await enrollments.requireRoom(caller);
      const form = held.adopt(await receiveForm(request, uploads, place.signal), (it) => it.release());
      const ask = parseEnrollment(form.fields);
      idleTimeout.suspend();
      const { voice, warnings } = await enrollments.enroll(ask, caller, place.signal);
      return newVoiceObject(voice, warnings);
    } finally {
      await held.disposeAsync();
      idleTimeout.resume();
    }
  }

  /** @param refusal headers that a refusal will have. */
  async function clip(id: string, request: Request, refusal: Record<string, string | number>) {
    readQuery(request, []);
    const wav = await voices.clip(callerOf(request), id, request.signal);
    const stored = {
      ...{ noun: 'clip', lengthBytes: wav.length, headers: { 'content-type': 'audio/wav' } },
      // A clip is never changed.
      etag: `"${id}"`,
      read: async (_: AbortSignal, range?: ByteRange) => inOnePiece(wav.subarray(range?.start, range?.end)),
    };
    return contentResponse(stored, request, refusal);
  }
}
