import { Elysia } from 'elysia';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { ByteRange } from '../../src/contract/stores/blob-store.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../src/http/request/multipart.ts';
import { contentResponse } from '../../src/http/response/content-response.ts';
import { idleTimeoutOf } from '../../src/http/response/streamed-body.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../src/http/server/route-table.ts';
import { singleChunk } from './clips/single-chunk.ts';
import type { EnrollmentService } from './enrollment.ts';
import * as docs from './openapi.ts';
import {
  listBody,
  namedVoiceObject,
  newVoiceObject,
  parseEnrollment,
  parseVoiceQuery,
  type VoiceQuery,
  voiceObject,
} from './schema.ts';
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
        const query = parseVoiceQuery(request);
        return query.model === undefined ? await listStored(request, query) : listNamed(query.model, query);
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

  async function listStored(request: Request, query: VoiceQuery) {
    const { limit, order, after } = query;
    const { voices: page, hasMore } = await voices.list(callerOf(request), { limit, order, after });
    // On the first page only.
    const named = after === undefined ? voices.namedVoices() : [];
    return listBody(page.map(voiceObject), hasMore, query, named);
  }

  function listNamed(model: string, query: VoiceQuery) {
    const { limit, order, after } = query;
    const named = voices.namedVoicesOf(model);
    // The voices have no creation time: the default order is that of the model.
    const ordered = order === 'asc' ? named.toReversed() : named;
    const last = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
    if (after !== undefined && last === -1) {
      throw invalidRequest("'after' must be the id of one of the voices.", 'after', 'invalid_value');
    }
    const rest = ordered.slice(last + 1);
    return listBody(rest.slice(0, limit).map(namedVoiceObject), rest.length > limit, query);
  }

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
      noun: 'clip',
      lengthBytes: wav.length,
      headers: { 'content-type': 'audio/wav' },
      // A clip is immutable.
      etag: `"${id}"`,
      read: async (_: AbortSignal, range?: ByteRange) => singleChunk(wav.subarray(range?.start, range?.end)),
    };
    return contentResponse(stored, request, errorHeaders);
  }
}
