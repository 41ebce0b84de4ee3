import { Elysia } from 'elysia';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../src/http/request/multipart.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../src/http/server/route-table.ts';
import { singleChunk } from './clips/single-chunk.ts';
import type { EnrollmentService } from './enrollment.ts';
import * as docs from './openapi.ts';
import { newVoiceObject, parseEnrollment, parseVoiceQuery, voiceObject } from './schema.ts';
import type { VoiceService } from './service.ts';

/** Routes of stored voices: POST, GET and DELETE of /v1/audio/voices (spec 4.4), compatible with OpenAI's SDK. */
export function voiceRoutes(voices: VoiceService, enrollments: EnrollmentService, uploads: UploadSettings) {
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
        return voiceObject(await voices.get(callerOf(request), params.voice_id));
      },
      { detail: docs.RETRIEVE },
    )
    .delete(
      '/v1/audio/voices/:voice_id',
      async ({ params: { voice_id: id }, request }) => {
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
    // Released in reverse order: the file, then the request slot.
    const resources = new AsyncDisposableStack();
    try {
      const slot = resources.adopt(enrollments.startRequest(caller, request.signal), (open) => open.end());
      await enrollments.requireQuota(caller);
      const form = resources.adopt(await receiveForm(request, uploads, slot.signal), (it) => it.release());
      const params = parseEnrollment(form.fields);
      idleTimeout.suspend();
      const { voice, warnings } = await enrollments.enroll(params, caller, slot.signal);
      return newVoiceObject(voice, warnings);
    } finally {
      await resources.disposeAsync();
      idleTimeout.resume();
    }
  }

  /** @param errorHeaders headers that are added to an error response. */
  async function clip(id: string, request: Request, errorHeaders: Record<string, string | number>) {
    const wav = await voices.clip(callerOf(request), id, request.signal);
    const stored = {
      ...{ noun: 'clip', lengthBytes: wav.length, headers: { 'content-type': 'audio/wav' } },
      // A clip is immutable.
      etag: `"${id}"`,
      read: async (_: AbortSignal, range?: ByteRange) => singleChunk(wav.subarray(range?.start, range?.end)),
    };
    return contentResponse(stored, request, errorHeaders);
  }
}
