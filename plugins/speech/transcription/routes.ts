import { Elysia } from 'elysia';
import type { TranscriptionEvent, TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../../src/http/request/multipart.ts';
import { SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { UPLOAD_BYTES } from '../../../src/http/server/route-table.ts';
import { started } from '../../../src/kit/async/started.ts';
import { transcriptionDocumentation } from './openapi.ts';
import { completeText, logprobsOf, tokenUsage, transcriptResponse } from './response.ts';
import { LIST_FIELDS, parseTranscription, type TranscriptionFormParams } from './schema.ts';
import type { Transcriber } from './service.ts';

/** POST /v1/audio/transcriptions and /v1/audio/translations, compatible with OpenAI's SDK. */
export function transcriptionRoutes(transcriber: Transcriber, uploads: UploadSettings) {
  const detail = (task: TranscriptionTask) => ({
    ...transcriptionDocumentation(task, uploads.fileBytes),
    [UPLOAD_BYTES]: maxFormBytes(uploads.fileBytes),
  });
  const settings = { ...uploads, lists: LIST_FIELDS };
  const handler =
    (task: TranscriptionTask) =>
    ({ request }: { request: Request }) =>
      handleRequest(task, request);
  return new Elysia({ name: 'transcription', tags: ['audio'] })
    .post('/v1/audio/transcriptions', handler('transcribe'), { detail: detail('transcribe') })
    .post('/v1/audio/translations', handler('translate'), { detail: detail('translate') });

  async function handleRequest(task: TranscriptionTask, request: Request) {
    const caller = callerOf(request);
    const idleTimeout = idleTimeoutOf(request);
    const disconnected = new AbortController();
    // Released in reverse order: the engine, the file, the request slot.
    const resources = new AsyncDisposableStack();
    try {
      const signal = AbortSignal.any([request.signal, disconnected.signal]);
      const slot = resources.adopt(transcriber.startRequest(caller, signal), (open) => open.end());
      const form = resources.adopt(await receiveForm(request, settings, slot.signal), (it) => it.release());
      const params = parseTranscription(task, form.fields);
      const events = resources.adopt(transcriber.transcribe(params, caller, slot.signal), async (it) => {
        await it.return();
      });
      idleTimeout.suspend();
      if (!params.stream) {
        const response = transcriptResponse(params, await finalOf(events));
        await resources.disposeAsync();
        return response;
      }
      // A failure before the first event sets the HTTP status.
      const chunks = sseOf(params, (await started(events)) ?? events, resources, (error) => {
        if (!slot.signal.aborted) transcriber.logStreamFailure(error, caller);
      });
      return new Response(streamedBody(chunks, disconnected, request), { headers: SSE_HEADERS });
    } catch (error) {
      await resources.disposeAsync();
      throw error;
    } finally {
      idleTimeout.resume();
    }
  }
}

async function finalOf(events: AsyncIterable<TranscriptionEvent>) {
  for await (const event of events) if (event.kind === 'final') return event.transcript;
  throw new Error('the transcription ended without a result');
}

/** Serializes the events of a stream (openai-wire 1.6). A failure is the last event. */
async function* sseOf(
  params: TranscriptionFormParams,
  events: AsyncIterable<TranscriptionEvent>,
  resources: AsyncDisposableStack,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const event of events) {
      if (event.kind === 'delta') {
        yield sseEvent({ type: 'transcript.text.delta', delta: event.text, ...logprobsOf(event.tokens) });
      } else {
        const { transcript } = event;
        yield sseEvent({
          type: 'transcript.text.done',
          ...completeText(params, transcript),
          usage: tokenUsage(transcript),
        });
      }
    }
  } catch (error) {
    onFailure(error);
    yield sseError(error);
  } finally {
    await resources.disposeAsync();
  }
}
