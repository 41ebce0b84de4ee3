import { Elysia } from 'elysia';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import {
  errorResponse,
  jsonBody,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { parseSpeechRequest, speechBodySchema, speechFormSchema } from './schema.ts';
import { wavBody } from './wav-body.ts';

/**
 * Maximum length of the audio that is buffered for a `wav` response: 260 MB. Only malicious texts exceed it, but the
 * length is unknown before synthesis: 5000 characters are 5 minutes of prose, or hours of slowly read digits.
 */
const MAX_WAV_S = 90 * 60;

/**
 * POST /v1/audio/speech (spec 4.3).
 * @param maxWavS maximum length of the audio of a `wav` response, in seconds.
 */
export function speechRoutes(requests: SpeechRequests, maxCharacters: number, maxWavS = MAX_WAV_S) {
  return new Elysia({ name: 'speech', tags: ['audio'] }).post(
    '/v1/audio/speech',
    async ({ body, request }) => {
      const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
      const params = parseSpeechRequest(body as object | null, isForm, maxCharacters);
      const { input: text, voice: voiceId, format, ...spoken } = params;
      // Synthesis of a long text may exceed the idle timeout of the connection.
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      const signal = AbortSignal.any([request.signal, disconnected.signal]);
      try {
        const speech = await requests.startSpeech(
          {
            ...{ ...spoken, text, voiceId, voiceParam: 'voice' },
            ...{ rateHz: SPEECH_RATE_HZ, priority: 'interactive' },
            delivery: format === 'pcm' ? 'stream' : 'whole',
          },
          callerOf(request),
          signal,
        );
        if (speech === undefined) {
          throw invalidRequest("'input' contains no speakable text.", 'input', 'invalid_value');
        }
        const responseBody =
          format === 'wav'
            ? await wavBody(speech, maxWavS)
            : streamedBody(speech.rest, disconnected, request, speech.first);
        return new Response(responseBody, { headers: { 'content-type': `audio/${format}` } });
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
