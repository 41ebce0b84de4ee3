import { Elysia } from 'elysia';
import { callerOf } from '../../src/http/caller.ts';
import { ErrorSchema } from '../../src/http/schemas.ts';
import { parseSpeechRequest, speechBodySchema } from './model.ts';
import type { Synthesizer } from './synthesize.ts';

/** Seconds without a byte after which a reader that does not take what is there is dropped. */
const BODY_IDLE_S = 120;

/** POST /v1/audio/speech (spec 4.3). */
export function speechRoutes(synthesizer: Synthesizer, maxCharacters: number) {
  return new Elysia({ name: 'speech', tags: ['audio'] }).post(
    '/v1/audio/speech',
    async ({ body, request, server }) => {
      const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
      const speech = parseSpeechRequest(body, isForm, maxCharacters);
      // A long text behind a long queue takes its time; the connection must outlive it.
      const patience = {
        whileWeWork: () => server?.timeout(request, 0),
        whileTheyRead: () => server?.timeout(request, BODY_IDLE_S),
      };
      patience.whileWeWork();
      const left = new AbortController();
      const signal = AbortSignal.any([request.signal, left.signal]);
      try {
        const audio = await synthesizer.synthesize(speech, callerOf(request), signal);
        const answer = audio.format === 'wav' ? audio.bytes : streamOf(audio.chunks, left, patience);
        return new Response(answer, { headers: { 'content-type': `audio/${audio.format}` } });
      } finally {
        patience.whileTheyRead();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

/** Says who is waited for from now on: idle time counts against the reader alone. */
interface Patience {
  whileWeWork(): void;
  whileTheyRead(): void;
}

/** Pulls one chunk at a time; a reader that leaves ends the synthesis. */
function streamOf(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  left: AbortController,
  patience: Patience,
): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      patience.whileWeWork();
      const { done, value } = await chunks.next();
      patience.whileTheyRead();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      // A pull may be waiting for the next window: only the signal ends that.
      left.abort();
      await chunks.return();
    },
  });
}

function documentation(maxCharacters: number) {
  const schema = plain(speechBodySchema(maxCharacters));
  const errorSchema = plain(ErrorSchema);
  const failure = (description: string) => ({
    description,
    content: { 'application/json': { schema: errorSchema } },
  });
  return {
    summary: 'Text to speech',
    description:
      'Speaks a text. `wav` is sent when all of it is made, `pcm` (signed 16-bit little-endian, mono, 24 kHz) while it is being made.',
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema }, 'application/json': { schema } },
    },
    responses: {
      200: {
        description: 'The audio',
        content: {
          'audio/wav': { schema: { type: 'string' as const, format: 'binary' } },
          'audio/pcm': { schema: { type: 'string' as const, format: 'binary' } },
        },
      },
      400: failure('A field is missing or not allowed; `param` names it'),
      401: failure('No key, or a wrong one'),
      413: failure('The body is too large'),
      415: failure('The body is neither JSON nor a form'),
      429: failure('The organization has too many requests open; `retry-after` says when to try again'),
      500: failure('The synthesis failed'),
      502: failure('The server that makes the audio failed'),
      503: failure('Too much work at once; `retry-after` says when to try again'),
    },
  };
}

/** The JSON of a schema, without the symbols that TypeBox keeps in it. */
function plain(schema: object) {
  return JSON.parse(JSON.stringify(schema));
}
