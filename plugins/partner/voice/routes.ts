import { Elysia } from 'elysia';
import { errorResponse, jsonBody, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { DEFAULT_MODEL, parseVoiceRequest, voiceBodySchema } from './schema.ts';

/** POST /v1/voices/partner (spec 4.9): the custom voice of a voice-agent platform. */
export function voiceRoutes(requests: SpeechRequests, maxCharacters: number) {
  return new Elysia({ name: 'partner-voice', tags: ['partner'] }).post(
    '/v1/voices/partner',
    async ({ body, request }) => {
      const params = parseVoiceRequest(body, addressOf(request).searchParams, maxCharacters);
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, disconnected.signal]);
        const speech = await requests.startSpeech(
          // A caller is on the phone: same priority as realtime responses.
          { ...params, speed: 1, priority: 'realtime', delivery: 'stream' },
          callerOf(request),
          signal,
        );
        // The content type of the platform's guide. The platform plays the bytes as they arrive and ignores the type.
        const headers = { 'content-type': 'application/octet-stream' };
        // Nothing to speak, as in `…`: silence, because an error would cost the phone call its turn.
        if (speech === undefined) return new Response(new Uint8Array(0), { headers });
        return new Response(streamedBody(speech.audio, disconnected, request), { headers });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

function documentation(maxCharacters: number) {
  const query = (name: string, description: string, fallback?: string) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: { type: 'string' as const, ...(fallback === undefined ? {} : { default: fallback }) },
  });
  return {
    summary: 'Custom voice for a voice-agent platform',
    description:
      'Synthesizes one part of a reply: raw signed 16-bit little-endian PCM, mono, at the requested rate, streamed during synthesis. A text without words, such as `…`, has an empty body and costs nothing. Other fields of the request are ignored.',
    parameters: [
      query('model', 'Id of a speech model.', DEFAULT_MODEL),
      query('voice_id', 'Id of a stored voice. The body takes precedence.'),
      query(
        'language',
        'Language of the text as a BCP 47 tag, such as `es` or `pt-BR`. Default: the language of the voice.',
      ),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: jsonBody(voiceBodySchema(maxCharacters)),
          examples: {
            piece: {
              summary: 'A part of a reply',
              value: { message: { type: 'voice-request', text: 'Good evening.', sampleRate: 16_000 } },
            },
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The audio',
        content: { 'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } } },
      },
      ...WORK_FAILURES,
      415: errorResponse('The body is not JSON'),
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}
