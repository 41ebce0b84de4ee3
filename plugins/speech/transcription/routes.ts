import { Type } from '@sinclair/typebox';
import type { TranscriptionEvent, TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import type { Route } from '../../../src/contract/route.ts';
import { toPlainSchema, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { maxFormBytes, receiveForm, type UploadSettings } from '../../../src/http/request/multipart.ts';
import { SSE_HEADERS, sseError, sseEvent } from '../../../src/http/response/sse.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { route } from '../../../src/http/route.ts';
import { started } from '../../../src/kit/async/started.ts';
import { Json, STREAM, Verbose } from './examples.ts';
import { completeText, logprobsOf, tokenUsage, transcriptResponse } from './response.ts';
import {
  LIST_FIELDS,
  parseTranscription,
  type TranscriptionFormParams,
  transcriptionFormSchema,
} from './schema.ts';
import type { Transcriber } from './service.ts';

export interface TranscriptionServices {
  readonly transcriber: Transcriber;
}

const TASKS = {
  transcribe: {
    path: '/v1/audio/transcriptions',
    summary: 'Speech to text',
    description: 'Transcribes a recording in its spoken language.',
  },
  translate: {
    path: '/v1/audio/translations',
    summary: 'Speech translation to English',
    description: 'Transcribes a recording in any language to English text.',
  },
} as const;

const SUBTITLES = '1\n00:00:00,000 --> 00:00:04,200\nAsk not what your country can do for you.\n\n';

/** POST /v1/audio/transcriptions and /v1/audio/translations, compatible with OpenAI's SDK. */
export function transcriptionRoutes(uploads: UploadSettings): readonly Route<TranscriptionServices>[] {
  return (['transcribe', 'translate'] as const).map((task) => transcriptionRoute(task, uploads));
}

function transcriptionRoute(task: TranscriptionTask, uploads: UploadSettings): Route<TranscriptionServices> {
  const { fileBytes } = uploads;
  const settings = { ...uploads, lists: LIST_FIELDS };
  return route({
    method: 'POST',
    ...TASKS[task],
    tag: 'audio',
    upload: { maxBytes: maxFormBytes(fileBytes) },
    body: { form: transcriptionFormSchema(task, fileBytes) },
    responses: {
      200: {
        description: 'The transcript in the `response_format`; with `stream`, events',
        content: {
          'application/json': { schema: toPlainSchema(Type.Union([Json, Verbose])) },
          'text/plain': { schema: { type: 'string' }, example: SUBTITLES },
          'text/event-stream': { example: STREAM },
        },
      },
      ...WORK_FAILURES,
      413: `The file is larger than ${fileBytes} bytes, or the form is too large`,
      415: 'The body is not a multipart form',
      500: 'The transcription failed',
      502: 'The upstream transcription server failed',
    },
    async handle({ caller, request }, { transcriber }: TranscriptionServices) {
      const idleTimeout = idleTimeoutOf(request);
      const disconnected = new AbortController();
      // Released in reverse order: the engine, the file, the request slot.
      const resources = new AsyncDisposableStack();
      try {
        const signal = AbortSignal.any([request.signal, disconnected.signal]);
        const slot = resources.adopt(transcriber.open.startRequest(caller, signal), (open) => open.end());
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
    },
  });
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
