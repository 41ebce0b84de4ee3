import { Elysia } from 'elysia';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import {
  errorResponse,
  jsonBody,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { WHOLE_BYTES } from '../../../src/http/response/content-response.ts';
import { SSE_HEADERS } from '../../../src/http/response/sse.ts';
import { bodyOutcomeOf, idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import type { ByteBudget } from '../../../src/kit/limits/byte-budget.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { speechEvents } from './event-body.ts';
import { parseSpeechRequest, speechBodySchema, speechFormSchema } from './schema.ts';
import { wavBody, wavBudget } from './wav-body.ts';

/**
 * Maximum length of the audio that is buffered for a `wav` response: 260 MB. Only malicious texts exceed it, but the
 * length is unknown before synthesis: 5000 characters are 5 minutes of prose, or hours of slowly read digits.
 */
const MAX_WAV_S = 90 * 60;

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;

export interface SpeechRoutesOptions {
  readonly requests: SpeechRequests;
  /** Maximum length of `input` in Unicode code points. */
  readonly maxCharacters: number;
  readonly log: Logger;
  /** Maximum length of the audio of a `wav` response, in seconds. */
  readonly maxWavS?: number;
  /** Memory of `wav` responses. */
  readonly wavs?: ByteBudget;
}

/** POST /v1/audio/speech (spec 4.3). */
export function speechRoutes({
  requests,
  maxCharacters,
  log,
  maxWavS = MAX_WAV_S,
  wavs = wavBudget(),
}: SpeechRoutesOptions) {
  return new Elysia({ name: 'speech', tags: ['audio'] }).post(
    '/v1/audio/speech',
    async ({ body, request }) => {
      const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
      const params = parseSpeechRequest(body as object | null, isForm, maxCharacters);
      const { input: text, voice: voiceId, format, asEvents, ...spoken } = params;
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
        const respond = (chunks: Chunks, headers: Record<string, string>) =>
          new Response(streamedBody(chunks, disconnected, request), { headers });
        const events = (chunks: Chunks) =>
          speechEvents(chunks, speech.tokens, (error) => {
            // A disconnected client is not logged as a failure.
            if (signal.aborted) return;
            logFailure(log, 'speech synthesis failed in its stream', error, {
              request_id: callerOf(request).requestId,
            });
          });
        if (format === 'pcm') {
          if (asEvents) return respond(events(prepend(speech.first, speech.rest)), SSE_HEADERS);
          const pcm = streamedBody(speech.rest, disconnected, request, speech.first);
          return new Response(pcm, { headers: { 'content-type': 'audio/pcm' } });
        }
        const share = wavs.openShare(callerOf(request).keyId);
        const { lengthBytes, chunks } = await wavBody(speech, maxWavS, share).catch((error: unknown) => {
          share.end();
          throw error;
        });
        const headers = { 'content-type': 'audio/wav' };
        if (lengthBytes <= WHOLE_BYTES && !asEvents) {
          share.end();
          return new Response(Buffer.concat(await Array.fromAsync(chunks)), { headers });
        }
        const response = asEvents ? respond(events(chunks), SSE_HEADERS) : respond(chunks, headers);
        bodyOutcomeOf(request)?.then(share.end, share.end);
        return response;
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

const EVENTS = `data: {"type":"speech.audio.delta","audio":"AAD//w=="}

data: {"type":"speech.audio.done","usage":{"input_tokens":10,"output_tokens":61,"total_tokens":71}}

`;

const TEXT = 'Hello there, how can I help you today?';

function documentation(maxCharacters: number) {
  return {
    summary: 'Text to speech',
    description:
      'Synthesizes speech. `wav` is sent when it is complete; `pcm` (signed 16-bit little-endian, mono, 24 kHz) is streamed during synthesis. With `stream_format` `sse`, the same bytes are sent in events `speech.audio.delta` (base64 in `audio`); `speech.audio.done` with the usage ends them, or an event `error` after a failure.',
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
            events: {
              summary: 'Streamed samples as events',
              value: { model: 'svc-tts', input: TEXT, response_format: 'pcm', stream_format: 'sse' },
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
          'text/event-stream': { example: EVENTS },
        },
      },
      ...WORK_FAILURES,
      415: errorResponse('The body is neither JSON nor a form'),
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}
