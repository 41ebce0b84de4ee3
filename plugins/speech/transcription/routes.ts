import { Elysia } from 'elysia';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { TranscriptionEvent, TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../../src/http/request/multipart.ts';
import { SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../../src/http/server/route-table.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import { transcriptionDocumentation } from './openapi.ts';
import { tokenUsage, transcriptAnswer } from './response.ts';
import { LIST_FIELDS, parseTranscription } from './schema.ts';
import type { Transcriber } from './service.ts';

/** POST /v1/audio/transcriptions and /v1/audio/translations, as in OpenAI's SDK. */
export function transcriptionRoutes(transcriber: Transcriber, uploads: UploadSettings) {
  const detail = (task: TranscriptionTask) => ({
    ...transcriptionDocumentation(task, uploads.fileBytes),
    [UPLOAD_BYTES]: maxFormBytes(uploads.fileBytes),
  });
  const settings = { ...uploads, lists: LIST_FIELDS };
  const answer =
    (task: TranscriptionTask) =>
    ({ request }: { request: Request }) =>
      answerTo(task, request);
  return new Elysia({ name: 'transcription', tags: ['audio'] })
    .post('/v1/audio/transcriptions', answer('transcribe'), { detail: detail('transcribe') })
    .post('/v1/audio/translations', answer('translate'), { detail: detail('translate') });

  async function answerTo(task: TranscriptionTask, request: Request) {
    const caller = callerOf(request);
    const idleTimeout = idleTimeoutOf(request);
    const left = new AbortController();
    // Ended in reverse: the engine, then the file, then the place that they took.
    const held = new AsyncDisposableStack();
    try {
      const signal = AbortSignal.any([request.signal, left.signal]);
      const place = held.adopt(transcriber.begin(caller, signal), (open) => open.end());
      const form = held.adopt(await receiveForm(request, settings, place.signal), (it) => it.release());
      const ask = parseTranscription(task, form.fields);
      const events = held.adopt(transcriber.transcribe(ask, caller, place.signal), async (it) => {
        await it.return();
      });
      idleTimeout.suspend();
      if (!ask.stream) {
        const answer = transcriptAnswer(ask, await finalOf(events));
        await held.disposeAsync();
        return answer;
      }
      // What fails before the first event can still be told by a status.
      const first = await events.next();
      if (first.done) throw noFinal();
      const chunks = sseOf(prepend(first.value, events), held, (error) => {
        if (!place.signal.aborted) transcriber.failedLate(error, caller);
      });
      return new Response(streamedBody(chunks, left, request), { headers: SSE_HEADERS });
    } catch (error) {
      await held.disposeAsync();
      throw error;
    } finally {
      idleTimeout.resume();
    }
  }
}

async function finalOf(events: AsyncIterable<TranscriptionEvent>) {
  for await (const event of events) if (event.kind === 'final') return event.transcript;
  throw noFinal();
}

function noFinal(): ServiceError {
  return new ServiceError('internal', 'The transcription ended without a result.', { code: 'server_error' });
}

/** The events of a stream (openai-wire 1.6); a failure is the last of them. */
async function* sseOf(
  events: AsyncIterable<TranscriptionEvent>,
  held: AsyncDisposableStack,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const event of events) {
      if (event.kind === 'delta') yield sseEvent({ type: 'transcript.text.delta', delta: event.text });
      else {
        const { text } = event.transcript;
        yield sseEvent({ type: 'transcript.text.done', text, usage: tokenUsage(event.transcript) });
      }
    }
  } catch (error) {
    onFailure(error);
    yield sseError(error);
  } finally {
    await held.disposeAsync();
  }
}
