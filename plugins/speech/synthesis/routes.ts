import { Elysia } from 'elysia';
import {
  errorResponse,
  jsonBody,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { parseSpeechRequest, speechBodySchema, speechFormSchema } from './schema.ts';
import type { Synthesizer } from './service.ts';

/** POST /v1/audio/speech (spec 4.3). */
export function speechRoutes(synthesizer: Synthesizer, maxCharacters: number) {
  return new Elysia({ name: 'speech', tags: ['audio'] }).post(
    '/v1/audio/speech',
    async ({ body, request }) => {
      const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
      const speech = parseSpeechRequest(body as object | null, isForm, maxCharacters);
      // Synthesis of a long text may exceed the idle timeout of the connection.
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      const signal = AbortSignal.any([request.signal, disconnected.signal]);
      try {
        const audio = await synthesizer.synthesize(speech, callerOf(request), signal);
        const responseBody =
          audio.format === 'wav' ? audio.bytes : streamedBody(audio.chunks, disconnected, request);
        return new Response(responseBody, { headers: { 'content-type': `audio/${audio.format}` } });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

const TEXT = 'Hello there, how can I help you today?';

function documentation(maxCharacters: number) {
  return {
    summary: 'Text to speech',
    description:
      'Synthesizes speech. `wav` is sent when it is complete; `pcm` (signed 16-bit little-endian, mono, 24 kHz) is streamed during synthesis.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: jsonBody(speechBodySchema(maxCharacters)),
          examples: {
            file: { summary: 'A WAV file', value: { model: 'svc-tts', input: TEXT } },
            streamed: {
              summary: 'Streamed samples',
              value: { model: 'svc-tts', input: TEXT, response_format: 'pcm', speed: 1.1 },
            },
          },
        },
        'multipart/form-data': { schema: toPlainSchema(speechFormSchema(maxCharacters)) },
      },
    },
    responses: {
      200: {
        description: 'The audio',
        content: {
          'audio/wav': { schema: { type: 'string' as const, format: 'binary' } },
          'audio/pcm': { schema: { type: 'string' as const, format: 'binary' } },
        },
      },
      ...WORK_FAILURES,
      415: errorResponse('The body is neither JSON nor a form'),
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}
